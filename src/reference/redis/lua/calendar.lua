-- Years in UTC.

-- Days from the start of 1970 to the start of a year.
local function days_before(year)
  local past = year - 1
  return 365 * (year - 1970) + math.floor(past / 4) - math.floor(past / 100) + math.floor(past / 400) - 477
end

local function year_of(instant)
  local days = math.floor(instant / 86400000)
  local year = 1970 + math.floor(days / 365.2425)
  if days < days_before(year) then
    return year - 1
  end
  if days >= days_before(year + 1) then
    return year + 1
  end
  return year
end
