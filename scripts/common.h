/* What nearly every file includes, for builds that parse it once: common_headers in common.sh. */
#include "base/base.h"
