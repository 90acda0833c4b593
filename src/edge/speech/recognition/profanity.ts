/** English only, and short: what a caller says when a machine does not understand. */
const RUDE =
  /\b(arse(?:hole)?|ass(?:hole)?|bastard|bitch|bloody|bollocks|bullshit|cock|crap|cunt|damn|dick(?:head)?|fuck\w*|goddamn|motherfuck\w*|piss\w*|prick|pussy|shit\w*|slut|twat|wank\w*|whore)\b/gi;

/** Rude words by their first letter, the rest as asterisks. */
export const withoutProfanity = (text: string): string =>
  text.replace(RUDE, (word) => word.slice(0, 1) + '*'.repeat(word.length - 1));
