---@meta
-- A validated search for flights, and an offer as scripts return it. scripts/products/flights.lua is the truth.

---@alias Cabin "economy"|"premium"|"business"|"first"
---@alias TravellerType "adult"|"child"|"infant_lap"|"infant_seat"

---@class Slice
---@field origin string
---@field destination string
---@field date string
---@field flex_days integer

---@class Traveller
---@field type TravellerType
---@field age? integer always of a child

---@class FlightQuery
---@field slices Slice[]
---@field travellers Traveller[]
---@field cabin Cabin
---@field max_stops? integer
---@field bags? { cabin: integer, checked: integer }
---@field fare_codes? string[]
---@field loyalty? { carrier: string, number: string }[]

---@class FlightSearch: Search read-only
---@field product "flights"
---@field query FlightQuery
---@field cabin Cabin as asked
---@field trip_type "one_way"|"return"|"multi_city"
---@field nights? integer not of a one-way trip
---@field private? true with loyalty or fare codes: never stored, never shared

---@class Stop
---@field local string
---@field zone? string
---@field utc? string

---@class Segment
---@field carrier string
---@field operating? string
---@field number string
---@field origin string
---@field destination string
---@field departs Stop
---@field arrives Stop
---@field duration_min? integer
---@field cabin? Cabin

---@class FlightPrice: Price
---@field per_traveller? { type: TravellerType, total: string, currency: string }[] what each one pays

---@class FlightOffer
---@field id string
---@field seller? { id?: string, name?: string }
---@field price FlightPrice
---@field expires_at? string
---@field slices { duration_min?: integer, segments: Segment[] }[]
---@field brand? string
---@field bags? { cabin?: integer, checked?: integer }
---@field refundable? boolean
---@field changeable? boolean
---@field seats_left? integer
---@field ref? string what `revalidate` wants to see again, to 64 KiB
---@field handoff? { url?: string, ref?: string }
