---@meta
-- What a supplier's file returns, and what its functions are given.

---@class Supplier
---@field name string the file's name without .lua
---@field product string
---@field owner string whom to write to
---@field hosts string[] where requests may go, "host" or "host:port"
---@field build_request fun(search: Search, ctx: Context): Request|Request[] a list: parts, side by side, at most 16
---@field normalise fun(response: Response, search: Search, ctx: Context): (Offers|PlanGiven|Failure|"empty"), Details?
---@field docs? string
---@field display_name? string
---@field secrets? string[]
---@field options? table<string, string|number|boolean>
---@field limits? Limits
---@field endpoints? string[] origins that answer the same requests: where a second one may go
---@field wants? "client"[] extras of the search: who asks
---@field skip? fun(search: Search, ctx: Context): string? a reason to leave it out
---@field sells? table<string, number|(string|number|boolean)[]> plurals of segments, max_ and min_; else it is skipped
---@field ceiling? fun(search: Search, progress: Progress): number? milliseconds after arrival
---@field login? Login what the supplier needs before it talks: a token, a session
---@field sign? fun(request: SignedRequest, ctx: Context): table<string, string>? headers to add, over the final bytes
---@field revalidate? Revalidate

---A login is of the account, not of a search: `ctx` has no `login` in it, and there is no `search`.
---@class Login
---@field build_request fun(ctx: Context): Request
---@field read fun(response: Response, ctx: Context): (Granted|Failure)

---@class Granted
---@field value string|table becomes `ctx.login`; what JSON can hold, to 8 KiB; a secret
---@field expires_in_s? number above 0; nil: it lasts until the supplier refuses it

---What `sign` sees: a request as it goes out, without the headers of an earlier signature.
---@class SignedRequest read-only
---@field method string in capitals
---@field url string absolute, with its query
---@field headers table<string, string|string[]> names in small letters
---@field body string empty: none

---An offer asked for again, before it is booked.
---@class Revalidate
---@field build_request fun(offer: RevalidateOffer, ctx: Context): Request|Request[] a list: parts, one after another
---@field read fun(response: Response, offer: RevalidateOffer, ctx: Context): Revalidation|RevalidationNext|Failure

---@class RevalidateOffer read-only; what was kept of the offer
---@field id string the script's own
---@field price Price as it was told, in the currency of the search
---@field observed_at string
---@field query table of the search
---@field ref? string what the script left in the offer
---@field handoff? { url?: string, ref?: string }

---@class Revalidation
---@field status "confirmed"|"price_changed"|"changed"|"sold_out"|"expired"|"retry"
---@field now? { total: string, currency: string } of price_changed, unless `offer` says it
---@field offer? table of changed: the new one, as `normalise` would give it
---@field expires_at? string
---@field handoff? { url?: string, ref?: string }

-- Not done yet. Of all parts but the last this is the one way on: only the last can say that the offer is sold.
---@class RevalidationNext
---@field next RevalidationStep

---@class RevalidationStep
---@field request? Request a poll, a look-up; nil: the next part is asked
---@field after_ms? number to wait before it, 0 to 600000
---@field state? any comes back as `ctx.state` of the step or part that follows; what JSON can hold, to 64 KiB

---@alias Offers (table|Failure)[] a failure in place of an offer drops that one, and says why

---What `normalise` may say beside its offers.
---@class Details
---@field next? NextStep a poll, a page, a look-up: the engine waits, sends, and calls `normalise` again
---@field merge? "add"|"replace"|"keep" see suppliers/README.md; add unless said
---@field complete? boolean false: there is more; the answer is partial unless a later step says otherwise
---@field quota? Quota what the supplier says is left of the account's quota
---@field warnings? string[] counted and shown in the reply

---@class NextStep
---@field request Request
---@field after_ms? number to wait before it, 0 to 600000; less than 10 counts as 10
---@field state? any comes back as `ctx.state`; what JSON can hold, to 64 KiB

---What a supplier says of its quota. Values of headers can be given as they are; what makes no sense was not said.
---@class Quota
---@field remaining? number|string requests that are left; with none the account is not asked until `reset_at`
---@field reset_at? number|string an instant: seconds since 1970, ISO 8601 or a date of HTTP; or seconds to wait

---How much may be asked of an account; the settings may say otherwise for each.
---@class Limits
---@field rps? integer requests that may begin within a second
---@field per_minute? integer
---@field per_day? integer
---@field concurrent? integer requests that may be under way at once
---@field body? string "2MiB", after decompression
---@field hedge? boolean true: a request that is likely to be late may be sent a second time
---@field call_cost? number what such a request costs, in offers; 1 unless said
---@field retry_on? integer[] statuses that are asked once more at once; { 503, 504 } unless said

---@class Progress read-only; whoever reads a field is asked again when it has changed
---@field elapsed_ms number since arrival
---@field remaining_ms number until the search must be finished
---@field offers integer that are there
---@field answered integer suppliers that have answered
---@field eligible integer suppliers to hear from
---@field cheapest? string the lowest total so far, in the search's currency
---@field latency? Latency nil while unknown
---@field win_rate? number how often the cheapest offer is its own when it answers, 0 to 1; nil while unknown
---@field chance fun(ms: number): number? that its answer comes within that time from now; nil while unknown
---@field worth_waiting fun(weights: Weights): number? the ceiling beyond which waiting costs more; nil while unknown

---Of a supplier's answers in the last minutes, in milliseconds; what cannot be told (too few ever came) is nil.
---@class Latency
---@field samples integer
---@field p50? number
---@field p75? number
---@field p95? number
---@field p99? number

---@class Weights
---@field value? number what its answer is worth; 1 unless said
---@field delay_cost number what a second of waiting costs, in the same unit

---@class Instant
---@field s number seconds since 1970
---@field ms number milliseconds since 1970
---@field iso string

---@class Context read-only
---@field account string
---@field secret table<string, string>
---@field options table<string, any>
---@field remaining_ms number of its allocation
---@field elapsed_ms number since arrival
---@field attempt integer 2: the request is made once more, for the first one failed at once
---@field hedge boolean it goes out beside another one that is likely to be late
---@field part integer
---@field parts integer
---@field step integer
---@field state any what the step before left, else nil
---@field login any the value of the account's login; nil: it has none, or this is for the login itself
---@field now Instant of the search's arrival; in `sign` the time of signing, in `login` the time of day

---@class Request
---@field method string
---@field url? string absolute
---@field path? string appended to options.base_url
---@field query? table
---@field headers? table<string, string>
---@field json? any
---@field form? table
---@field body? string

---@class Response read-only
---@field status integer
---@field headers table<string, string|string[]> names in small letters
---@field body string
---@field json fun(self: Response, shape?: Shape): any what the shape declares, or all; no JSON: unparsable
---@field xml fun(self: Response, shape: Shape, options?: { lenient?: boolean }): any the same of XML
---@field text fun(self: Response): string the body as it came
