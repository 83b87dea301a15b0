---@meta
-- The helpers that every script sees as globals. What they do stands in scripts/README.md.

---@class json
---@field null lightuserdata writes null; reading gives nil
json = {}
---Canonical JSON: keys sorted, no blanks. Raises for what JSON cannot say.
---@param value any
---@return string
function json.encode(value) end
---Strict JSON to Lua. Numbers are doubles; null is nil; arrays keep their mark.
---@param text string
---@return any value
---@return string? why when it is not JSON
function json.decode(text) end
---Marks a table as an array, so that it is written as [] even when empty.
---@param list? table
---@return table list the same table
function json.array(list) end

---@alias QueryValue string|number|boolean

---@class url
url = {}
---@param text string
---@return string
function url.encode(text) end
---@param text string
---@return string? text
---@return string? why
function url.decode(text) end
---@param fields table<string, QueryValue|QueryValue[]>|{[1]:string,[2]:QueryValue}[]
---@return string
function url.query(fields) end
---@param base string
---@param path? string
---@param fields? table
---@return string
function url.join(base, path, fields) end

---@class UrlParts
---@field scheme "http"|"https"
---@field host string without brackets
---@field port integer the scheme's own when not written
---@field path string
---@field query? string
---@field fragment? string

---@class UrlPieces
---@field scheme "http"|"https"
---@field host string
---@field port? integer
---@field path? string
---@field query? string|table what url.query takes, or its text
---@field fragment? string

---The parts of an absolute URL as they stand, nothing decoded.
---@param text string?
---@return UrlParts? parts
---@return string? why
function url.parse(text) end
---@param parts UrlPieces
---@return string
function url.build(parts) end

---What HTML forms post.
---@class form
form = {}
---A map is sorted by key, a list of pairs keeps its order, a list of values repeats its key.
---@param fields table<string, QueryValue|QueryValue[]>|{[1]:string,[2]:QueryValue|QueryValue[]}[]
---@return string
function form.encode(fields) end
---@param text string?
---@return table<string, string|string[]>? fields a key that comes again has a list
---@return string? why
function form.decode(text) end
---@param text string?
---@return {[1]:string,[2]:string}[]? pairs in the order of the text
---@return string? why
function form.pairs(text) end

---@class crypto
crypto = {}
---@param bytes string
---@return string digest raw bytes
function crypto.sha1(bytes) end
---@param bytes string
---@return string digest raw bytes
function crypto.sha256(bytes) end
---@param bytes string
---@return string digest raw bytes
function crypto.sha512(bytes) end
---@param bytes string
---@return string digest raw bytes
function crypto.md5(bytes) end
---@param algorithm "sha256"|"sha1"|"sha512"|"md5"
---@param key string
---@param message string
---@return string digest raw bytes
function crypto.hmac(algorithm, key, message) end
---@param bytes string
---@return string
function crypto.base64(bytes) end
---@param text string
---@return string? bytes
---@return string? why
function crypto.base64_decode(text) end
---@param bytes string
---@return string
function crypto.base64url(bytes) end
---@param text string
---@return string? bytes
---@return string? why
function crypto.base64url_decode(text) end
---@param bytes string
---@return string
function crypto.hex(bytes) end
---@param text string
---@return string? bytes
---@return string? why
function crypto.hex_decode(text) end
---@param count integer 1 to 1024
---@return string bytes
function crypto.random(count) end
---@return string
function crypto.uuid() end

---Called, it is a term of a plan: an object of year, month, day, hour and minute as a time.
---@class time
---@overload fun(path: string|PlanPath): PlanTerm
time = {}
---@param text string?
---@return string? date YYYY-MM-DD
---@return string? why
function time.date(text) end
---@param text string?
---@return string? time YYYY-MM-DDTHH:MM:SS, its offset dropped
---@return string? why
function time.local_time(text) end
---@param text string? a time with Z or an offset
---@return string? time YYYY-MM-DDTHH:MM:SSZ
---@return string? why
function time.utc(text) end
---@param text string? a time with Z or an offset
---@return number? seconds since 1970
---@return string? why
function time.epoch(text) end
---@param epoch_s number
---@param offset_min? integer
---@return string
function time.iso(epoch_s, offset_min) end
---@param text string? "Mon, 03 May 2027 20:05:00 GMT"
---@return number? seconds since 1970
---@return string? why
function time.http(text) end
---@param duration string? "PT1H35M"
---@return integer? minutes
---@return string? why
function time.minutes(duration) end
---@param minutes integer
---@return string
function time.duration(minutes) end
---@param date string
---@param days integer
---@return string date
function time.add_days(date, days) end
---@param from string
---@param to string
---@return integer
function time.days_between(from, to) end
---@param from string
---@param to string
---@return integer
function time.minutes_between(from, to) end
---@param date string
---@return integer weekday 1 is Monday
function time.weekday(date) end
---@param date string
---@param days integer
---@param clock string "20:05" or "2005"
---@return string time
function time.at(date, days, clock) end
---@param text string? "160427"
---@return string? date
---@return string? why
function time.ddmmyy(text) end
---@param airport string? an IATA code
---@return string? zone of the IANA database
---@return string? why
function time.zone(airport) end
---@param text string? a local time
---@param airport string?
---@return string? time YYYY-MM-DDTHH:MM:SSZ
---@return string? why
function time.utc_at(text, airport) end
---@param text string? a time with Z or an offset
---@param airport string?
---@return string? time YYYY-MM-DDTHH:MM:SS
---@return string? why
function time.local_at(text, airport) end

---Called, it is a term of a plan: the amount, and how many of its digits are decimals when it is a whole number.
---@class money
---@overload fun(currency: PlanLeaf, amount: PlanLeaf, decimals?: PlanLeaf): PlanTerm
money = {}
---@param amount string?
---@param currency string?
---@return string? amount with the currency's decimals
---@return string? why
function money.parse(amount, currency) end
---@param amount string?
---@param currency string?
---@return string? amount halves away from zero
---@return string? why
function money.round(amount, currency) end
---@param text string? "EUR178.74"
---@return string? amount
---@return string? currency or why
function money.split(text) end
---@param digits string|integer|nil "41230"
---@param decimals integer how many of the digits
---@param currency string
---@return string? amount
---@return string? why
function money.scaled(digits, decimals, currency) end
---@param a string
---@param b string
---@param currency string
---@return string? nil when something is nil
function money.add(a, b, currency) end
---@param a string
---@param b string
---@param currency string
---@return string? nil when something is nil
function money.sub(a, b, currency) end
---@param amount string
---@param factor integer
---@param currency string
---@return string? nil when something is nil
function money.mul(amount, factor, currency) end
---@param amounts string[]
---@param currency string
---@return string? nil when something is nil
function money.sum(amounts, currency) end
---@param a string
---@param b string
---@return -1|0|1|nil
function money.compare(a, b) end
---@param currency string
---@return integer? decimals nil: no currency in use
function money.exponent(currency) end

---@class XmlNode an element of a small document
---@field name string without its prefix
---@field prefix? string as written
---@field uri? string its namespace
---@field attrs table<string, string> by their names as written
---@field text? string its own, without blanks at its ends
---@field [integer] XmlNode elements in it

---@class XmlElement { "prefix:Name", child, … }; other fields are attributes
---@field [1] string
---@field [integer] XmlElement|XmlElement[]|string|number|boolean nil and false are left out
---@field attrs? {[1]:string,[2]:string|number|boolean}[] attributes whose order matters, in front of the others
---@field [string] string|number|boolean|table

---@class xml
xml = {}
---A document of at most 1 MiB and 10,000 elements; for answers take response:xml(shape).
---@param text string?
---@param options? { lenient?: boolean }
---@return XmlNode? root
---@return string? why when it is not XML
function xml.parse(text, options) end
---@param element XmlElement
---@param options? { declaration?: boolean } true unless said: <?xml version="1.0" encoding="UTF-8"?> in front
---@return string
function xml.build(element, options) end

---@class SoapFault
---@field code? string
---@field subcode? string of SOAP 1.2
---@field reason? string
---@field actor? string
---@field detail? XmlNode

---@class soap
soap = {}
---@param parts { version?: "1.1"|"1.2", header?: XmlElement|XmlElement[], body: XmlElement|XmlElement[] }
---@return string
function soap.envelope(parts) end
---The fault of an answer, of either version, read leniently; nil: there is none.
---@param answer Response|string|nil
---@return SoapFault?
---@return string? why when it speaks of a fault and cannot be read
function soap.fault(answer) end
---WS-Security's UsernameToken, for the header of an envelope; without nonce (raw bytes) and created the password stands
---in it as it is.
---@param token { username: string, password: string, nonce?: string, created?: string }
---@return XmlElement
function soap.security(token) end

---@class log
log = {}
---@param message string
function log.debug(message) end
---@param message string
function log.info(message) end
---@param message string
function log.warning(message) end
---@param message string
function log.error(message) end

---@class Failure what `fail` makes; return it from normalise, or raise it with error()

---@class fail
fail = {}
---@param options? { retry_after?: number|string, message?: string } seconds, or a date of HTTP or ISO 8601
---@return Failure
function fail.quota(options) end
---@param message? string
---@return Failure
function fail.busy(message) end
---@param message? string
---@return Failure
function fail.login(message) end
---@param message? string
---@return Failure
function fail.auth(message) end
---@param options? { code?: string, message?: string }
---@return Failure
function fail.supplier(options) end
---@param path string
---@return Failure
function fail.unexpected(path) end

---With a path or another leaf in front it is a term of a plan.
---@generic T, R
---@param list T[]
---@param transform fun(value: T, index: integer): R?
---@return R[]
---@overload fun(leaf: PlanLeaf, meanings: table<PlanConstant, PlanConstant>, otherwise?: PlanConstant): PlanTerm
function map(list, transform) end
---@generic T
---@param list T[]
---@param holds fun(value: T, index: integer): boolean
---@return T[]
function filter(list, holds) end
---@generic T
---@param list T[]
---@param holds? fun(value: T, index: integer): boolean
---@return T?
function first(list, holds) end
---@param value any
---@param ... string|integer
---@return any
function get(value, ...) end
---@param fields table
---@return fun(): any, any
function sorted_pairs(fields) end

---@class ShapeLeaf

---A list has one element: what it is a list of; beside the root of XML may stand `xmlns`.
---@alias Shape ShapeLeaf|table<string, Shape>|Shape[]

---@type ShapeLeaf text, or a number's literal
text = {}
---@type ShapeLeaf a number's literal as text
decimal = {}
---@type ShapeLeaf a whole number
integer = {}
---@type ShapeLeaf true or false
flag = {}
---@type ShapeLeaf the bytes of any value
raw = {}
---An object with free keys, its values all alike.
---@param shape Shape
---@return ShapeLeaf
function map_of(shape) end

---@class PlanTerm

---@class PlanPath: PlanTerm a path that grows by its fields: up(2).prices[1].amount
---@field [string|integer] PlanPath

---@class PlanReference: PlanTerm what `of` takes, and a path in what is named: ref("places{}", "{}", "at").iata
---@field [string|integer] PlanReference

---@class PlanGiven what a plan made of the answer in hand; return it from normalise

---@alias PlanConstant string|number|boolean

---@alias PlanLeaf string|number|boolean|PlanTerm|function|table a text is a path

--- Beside any `each`: a path that is there and true, a path and its value or values, or a function.
---@alias PlanOnly string|PlanTerm|function|table

---@class Plan
---@field from? "json"|"xml" what the answer is; JSON unless said
---@field xmlns? table<string, string> of XML: what prefixes of paths mean; "" for names without one
---@field lenient? boolean of XML: see response:xml
---@field each? string one offer for each element: "hotels[].rooms{}.rates[]"; without it the document is one
---@field only? PlanOnly which of those: "bookable", { "status", "OK" }, { "status", { "OK", "ON" } }, or a function
---@field offer table<string, PlanLeaf> the fields of the product's offer
---@field when? table<integer|string, "empty"|Failure|function> a status, "path:=value", "path:absent" or "path:present"

---The mapping of an answer to offers as data; scripts/README.md has its terms.
---@param parts Plan
---@return fun(response: Response, search: Search, ctx: Context): PlanGiven|Failure|table[]
function plan(parts) end
---The element that many levels of [] and {} further out.
---@param levels integer from 1
---@return PlanPath
function up(levels) end
---@param value PlanConstant
---@return PlanTerm
function const(value) end
---`of = ref("segments", "id", "segmentId")`: what the elements of `each` name; with fields behind it a leaf. Several
---keys want as many paths: ref("slices[].flights", { up(1).number, "id" }, { "slice", "flight" }).
---@param list string|PlanPath path of a list, or of a map with {} behind it, from the document or up(n)
---@param key string|PlanPath|(string|PlanPath)[] path in its elements; "{}" is the key of a map, "[]" a place in a list
---@param path? string|PlanPath|(string|PlanPath)[] where the element in hand says the name; without it it is the name
---@return PlanReference
function ref(list, key, path) end

---What the search says at that path.
---@param path string "currency", "query.cabin"
---@return PlanTerm
function asked(path) end

---Rows of a table of the settings; cells are text. A row is a text when the table has one column beside its key,
---a table by column names when it has several, true when it has none.
---@param table string its name in `data`
---@param ... string? the key, a text for each of its columns; nil gives nil
---@return (string|table<string, string>|true)[]? rows read-only; nil when there is no such row
function lookup(table, ...) end
