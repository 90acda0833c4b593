/** A short filter for English profanity. */
const RUDE =
  /\b(arse(?:hole)?|ass(?:hole)?|bastard|bitch|bloody|bollocks|bullshit|cock|crap|cunt|damn|dick(?:head)?|fuck\w*|goddamn|motherfuck\w*|piss\w*|prick|pussy|shit\w*|slut|twat|wank\w*|whore)\b/gi;

/** Replaces all but the first letter of rude words by asterisks. */
export const withoutProfanity = (text: string): string =>
  text.replace(RUDE, (word) => word.slice(0, 1) + '*'.repeat(word.length - 1));
