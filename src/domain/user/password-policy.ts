/** Rules for new passwords: a minimum length, and not one that attackers try first (NIST SP 800-63B §5.1.1.2). */
import type { PasswordStrength } from './needs.ts';

const MAX_LENGTH = 200;

export class PasswordPolicy {
  /** Minimum length in characters. */
  readonly minLength: number;
  readonly #strength: PasswordStrength;

  constructor(minLength: number, strength: PasswordStrength) {
    this.minLength = minLength;
    this.#strength = strength;
  }

  /** Returns the problem of a new password, or undefined. `known` are texts that others know, such as the e-mail address. */
  async problemOf(password: string, known: readonly string[]): Promise<string | undefined> {
    if (password.length < this.minLength) return `must have ${this.minLength} characters or more`;
    if (password.length > MAX_LENGTH) return `must have ${MAX_LENGTH} characters or fewer`;
    return (await this.#strength.isGuessable(password, known))
      ? 'is easy to guess: use several unrelated words, or a password manager'
      : undefined;
  }
}
