// OpenSSL's public structure SHA_CTX (openssl/sha.h). A test compares its layout with the real one.
#pragma once

struct SHAstate_st {
  unsigned int h0, h1, h2, h3, h4;
  unsigned int Nl, Nh;
  unsigned int data[16];
  unsigned int num;
};
