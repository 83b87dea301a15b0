---@meta
-- A validated search for hotels, and an offer as scripts return it. scripts/products/hotels.lua is the truth.

---@alias Board "room_only"|"breakfast"|"half_board"|"full_board"|"all_inclusive"

---@class Place exactly one of city, geo (with radius_km) and hotels
---@field city? string
---@field geo? { lat: number, lon: number }
---@field radius_km? number
---@field hotels? string[] our ids, in order, each once

---@class Room
---@field adults integer
---@field child_ages integer[] in order; empty without children

---@class HotelQuery
---@field place Place
---@field check_in string
---@field check_out string
---@field rooms Room[]
---@field residency? string a country; the market unless said

---@class HotelSearch: Search read-only
---@field product "hotels"
---@field query HotelQuery
---@field nights integer
---@field rooms integer how many

---@class HotelOffer
---@field id string
---@field seller? { id?: string, name?: string }
---@field price Price of all rooms and nights
---@field expires_at? string
---@field hotel_id? string ours; without it the item is `supplier:supplier_hotel_id`, and counted
---@field name? string of the hotel
---@field stars? integer 1 to 5
---@field supplier_hotel_id? string required without hotel_id
---@field room string
---@field board Board
---@field refund? { free_until?: string } absent: not refundable; without a time: always
---@field pay "now"|"at_property"
---@field beds? string
---@field ref? string what `revalidate` wants to see again, to 64 KiB
---@field handoff? { url?: string, ref?: string }
