/** Descriptions of certificate errors by their OpenSSL codes (openssl/x509_vfy.h). */
const NAMES: Readonly<Record<number, string>> = {
  2: 'UNABLE_TO_GET_ISSUER_CERT',
  7: 'CERT_SIGNATURE_FAILURE',
  9: 'CERT_NOT_YET_VALID',
  10: 'CERT_HAS_EXPIRED',
  18: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  19: 'SELF_SIGNED_CERT_IN_CHAIN',
  20: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  21: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  22: 'CERT_CHAIN_TOO_LONG',
  23: 'CERT_REVOKED',
  24: 'INVALID_CA',
  26: 'INVALID_PURPOSE',
  27: 'CERT_UNTRUSTED',
  28: 'CERT_REJECTED',
  62: 'the certificate is for another name',
  64: 'the certificate is for another address',
};

export const certificateFault = (code: number): string =>
  NAMES[code] ?? `the certificate is refused (X509_V_ERR ${code})`;
