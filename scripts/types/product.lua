---@meta
-- What a product's file returns.

---@class Product
---@field name string the file's name without .lua
---@field item_prefix? string of the identities of its items
---@field offer OfferField[] the schema, in the order of the reply
---@field query fun(request: table, arrival: Instant): table?, QueryError[]?

---@class OfferField {name, kind, options}; kind is a word or a list of fields
---@field [1] string
---@field [2] "text"|"integer"|"flag"|"money"|"currency"|"local_time"|"utc_time"|"date"|"enum"|"list"|OfferField[]
---@field required? boolean
---@field min? integer
---@field max? integer
---@field values? string[] of an enum
---@field of? string|OfferField[] of a list
---@field item? boolean
---@field key? boolean
---@field hidden? boolean
---@field trim_zeros? boolean
---@field adds_duration? boolean

---@class QueryError
---@field pointer string RFC 6901
---@field code string
---@field detail string
