-- Whatever comes is a fault, or else none.
return {
  name = "xml_fault",
  product = "flights",
  owner = "tests@example.com",
  hosts = {},
  build_request = function() end,
  normalise = function(response)
    local fault = soap.fault(response)
    if fault == nil then
      return {}
    end
    return fail.supplier { code = fault.code, message = fault.reason }
  end,
}
