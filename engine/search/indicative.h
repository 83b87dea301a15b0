/// Indicative: where a caller wants the last known offers of suppliers that brought none.
///
/// Threads: any; constants.
#pragma once

/// With the end of the reply; of a stream at once, until live ones land; or nowhere.
enum indicative { INDICATIVE_AT_END, INDICATIVE_FIRST, INDICATIVE_NONE, INDICATIVE_COUNT };
