/** Time-based one-time passwords (RFC 6238): six digits, 30 s, HMAC-SHA-1, as in authenticator apps. */
import { hmacSha1 } from '../../base/hash.ts';
import type { Random } from '../../base/ids.ts';

const STEP_MS = 30_000;
const DIGITS = 6;
const SECRET_BYTES = 20;
/** Accepted steps around the current one, for inaccurate phone clocks. */
const WINDOW = [-1, 0, 1];
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const CODE = /^\d{6}$/;

/** Returns a new secret in Base32 (RFC 4648 §6). */
export function newTotpSecret(random: Random): string {
  let [bits, held, text] = [0, 0, ''];
  for (const byte of random.bytes(SECRET_BYTES)) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET.charAt((held >>> bits) & 31);
    }
    held &= (1 << bits) - 1;
  }
  return text;
}

function bytesOf(secret: string): Buffer {
  const bytes: number[] = [];
  let [bits, held] = [0, 0];
  for (const letter of secret) {
    held = (held << 5) | ALPHABET.indexOf(letter);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((held >>> bits) & 255);
    }
    held &= (1 << bits) - 1;
  }
  return Buffer.from(bytes);
}

/** Computes the code of a step (RFC 4226 §5.3). */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = hmacSha1(bytesOf(secret), counter);
  const offset = (mac.at(-1) ?? 0) & 15;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

export const stepAt = (nowMs: number): number => Math.floor(nowMs / STEP_MS);

/** Returns the step of a valid code. Undefined if the code is wrong or its step was used before. */
export function stepOfCode(
  { secret, usedStep }: { readonly secret: string; readonly usedStep: number },
  code: string,
  nowMs: number,
): number | undefined {
  if (!CODE.test(code)) return undefined;
  const now = stepAt(nowMs);
  return WINDOW.map((shift) => now + shift).find(
    (step) => step > usedStep && totpCode(secret, step) === code,
  );
}

/** Returns the URI that an authenticator app reads from a QR code. */
export const totpUri = (issuer: string, email: string, secret: string): string =>
  `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(email)}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`;
