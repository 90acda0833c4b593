/** Estimates how many guesses a password resists, with zxcvbn: common passwords, names, keyboard patterns, dates. */
import type { PasswordStrength } from '../../domain/user/needs.ts';

/** Score from which a password counts as strong: more than 10^8 guesses. The scale is 0 to 4. */
const STRONG = 3;

/** The dictionaries are loaded with the first new password: most starts set none. */
export function createPasswordStrength(): PasswordStrength {
  let estimator: ReturnType<typeof load> | undefined;
  return {
    async isGuessable(password, known) {
      estimator ??= load();
      const { score } = (await estimator).check(password, [...known]);
      return score < STRONG;
    },
  };
}

async function load() {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
}
