/// Hotels world: which hotels there are and who sells them, by arithmetic.
///
/// Threads: any.
/// Memory:  none.
#pragma once

#include "farm/hotels.h"

enum { WORLD_HOTELS = 40000, WORLD_CITIES = 50, WORLD_SELLERS_MAX = 3 };

/// How many suppliers sell the hotel (2 or 3), and which.
uint32_t world_sellers(uint32_t hotel, uint32_t sellers[WORLD_SELLERS_MAX]);

/// The digits of the id that a supplier has for a hotel, and back; false: it sells no such property.
uint32_t world_property(uint32_t hotel, uint32_t supplier);
MUST_CHECK bool world_hotel(uint32_t property, uint32_t supplier, uint32_t *hotel);

uint32_t world_stars(uint32_t hotel); // 1 to 5
