/** Maps voices in answer documents to voices of an engine. */

export type Gender = 'female' | 'male';

/** Amazon's male voices. All other Polly voices and the default are female. */
const MALE_POLLY = new Set(
  (
    'Adriano,Andres,Arthur,Brian,Cristiano,Daniel,Enrique,Geraint,Giorgio,Gregory,Hans,Jacek,Jan,Joey,Justin,' +
    'Karl,Kevin,Laurent,Liam,Mads,Mathieu,Matthew,Maxim,Miguel,Pedro,Remi,Ricardo,Ruben,Russell,Sergio,Stephen,' +
    'Takumi,Thiago'
  ).split(','),
);

/** Gender of `WOMAN`, `MAN`, `Polly.Matthew` or `Polly.Matthew-Neural`. */
export function genderOf(voice: string): Gender {
  if (voice.toUpperCase() === 'MAN') return 'male';
  const polly = /^Polly\.([A-Za-z]+)/.exec(voice)?.[1];
  return polly !== undefined && MALE_POLLY.has(polly) ? 'male' : 'female';
}

/** BCP 47 tags (and Polly's own) with an espeak-ng name other than their lower case or first part. */
const ESPEAK_NAMES: Readonly<Record<string, string>> = {
  arb: 'ar',
  'es-mx': 'es-419',
  'es-us': 'es-419',
  'zh-cn': 'cmn',
  'cmn-cn': 'cmn',
  'zh-hk': 'yue',
  'no-no': 'nb',
  'nb-no': 'nb',
};

/** Returns the espeak-ng language for a tag: the exact name, the plain language, or a related one. */
export function espeakLanguage(
  language: string,
  available: ReadonlySet<string>,
): string | undefined {
  const wanted = language.toLowerCase().replace('_', '-');
  const plain = wanted.split('-')[0] ?? '';
  for (const name of [ESPEAK_NAMES[wanted] ?? wanted, plain]) {
    if (available.has(name)) return name;
  }
  return plain === '' ? undefined : [...available].find((name) => name.startsWith(`${plain}-`));
}

/** Parses `espeak-ng --voices`: languages in the second column, and further ones in parentheses. */
export function parseEspeakVoices(listing: string): ReadonlySet<string> {
  const languages = new Set<string>();
  for (const line of listing.split('\n').slice(1)) {
    const [, main, ...rest] = line.trim().split(/\s+/);
    if (main === undefined) continue;
    languages.add(main.toLowerCase());
    for (const [, further] of rest.join(' ').matchAll(/\(([a-z0-9-]+) \d+\)/gi)) {
      if (further !== undefined) languages.add(further.toLowerCase());
    }
  }
  return languages;
}

/** Parses `flite -lv`: names after the colon. */
export function parseFliteVoices(listing: string): ReadonlySet<string> {
  return new Set(
    listing
      .replace(/^[^:]*:/, '')
      .trim()
      .split(/\s+/)
      .filter((name) => name !== ''),
  );
}

/** Returns a flite voice of this gender, or any voice. flite supports only English. */
export function fliteVoice(
  gender: Gender,
  language: string,
  available: ReadonlySet<string>,
): string | undefined {
  if (!/^en(-|_|$)/i.test(language)) return undefined;
  const british = /^en[-_](gb|ie|scotland)/i.test(language);
  const male = british ? ['awb', 'rms', 'kal16', 'kal'] : ['rms', 'kal16', 'kal', 'awb'];
  const order = gender === 'female' ? ['slt', ...male] : [...male, 'slt'];
  return order.find((name) => available.has(name));
}
