/** Decodes ITU-T G.711 to 16-bit linear PCM for files. Calls use the native codec. */

const MU_LAW = Int16Array.from({ length: 256 }, (_, code) => {
  const inverted = ~code & 0xff;
  const exponent = (inverted >> 4) & 7;
  const magnitude = ((((inverted & 15) << 3) + 0x84) << exponent) - 0x84;
  return code < 0x80 ? -magnitude : magnitude;
});

const A_LAW = Int16Array.from({ length: 256 }, (_, code) => {
  const plain = code ^ 0x55;
  const exponent = (plain >> 4) & 7;
  const mantissa = ((plain & 15) << 4) + 8;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return code < 0x80 ? -magnitude : magnitude;
});

export const muLawToLinear = (code: number): number => MU_LAW[code & 0xff] ?? 0;
export const aLawToLinear = (code: number): number => A_LAW[code & 0xff] ?? 0;
