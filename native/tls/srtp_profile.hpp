// OpenSSL's public structure SRTP_PROTECTION_PROFILE (openssl/srtp.h). A test compares its layout with the
// real one.
#pragma once

struct srtp_protection_profile_st {
  const char* name;
  unsigned long id;
};
