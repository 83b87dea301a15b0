// Words are looked for behind the path and before what was got instead, which is the supplier's.

#include "script/drop_words.h"

#include <string.h>

static const struct drop_words DROPS[] = {
    { ", got a reference to ",
      CODE_OFFER_DROPPED, // before the others: whatever was expected, this is why it is not there
      "nothing there has that key: compare the list and the paths of ref(…) with the answer; where what is named "
      "stands "
      "in another list, ask `only` which elements are meant, or write it in Lua" },
    { "currency of ISO 4217", CODE_CURRENCY,
      "give an ISO 4217 code of three capitals: map what the supplier calls it" },
    { "is a place whose time zone", CODE_PLACE,
      "give the IATA code of an airport, in capitals; a city has none, and a new one belongs into "
      "scripts/data/airports.txt" },
    { "a float is an error", CODE_MONEY_FLOAT,
      "read the amount as text: response:json with `text` or `decimal` keeps it, and money.parse takes it" },
    { "time with Z or an offset", CODE_TIME_FORMAT,
      "it says no offset: of UTC, append \"Z\" in a function of the leaf; on the clock of a place, time.utc_at(text, "
      "AIRPORT) of an "
      "airport there" },
    { "local time", CODE_TIME_FORMAT,
      "give it as ISO 8601, 2027-05-03T20:05: time.local_time and time.at read other spellings" },
    { "date", CODE_TIME_FORMAT, "give it as 2027-05-03: time.date, time.ddmmyy and time.at read other spellings" },
    { "time", CODE_TIME_FORMAT, "give it as ISO 8601: time.utc, time.at and time.http read other spellings" },
    { "money as decimal", CODE_MONEY_AMOUNT, "give decimal text such as \"412.30\": money.parse makes it" },
};

const struct drop_words *drop_words_find(struct text sentence)
{
    const char *expected = memmem(sentence.data, sentence.length, ": ", 2);
    struct text rest =
        expected == NULL ? sentence : (struct text){ expected, sentence.length - (size_t)(expected - sentence.data) };
    const char *value = memmem(rest.data, rest.length, ", got \"", 7);

    rest.length = value == NULL ? rest.length : (size_t)(value - rest.data);
    for (size_t i = 0; i < COUNT_OF(DROPS); i++) {
        if (memmem(rest.data, rest.length, DROPS[i].words, strlen(DROPS[i].words)) != NULL) {
            return &DROPS[i];
        }
    }
    return NULL;
}
