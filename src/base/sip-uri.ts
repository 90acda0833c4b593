const SIP_URI = /^sips?:[^\s@<>"]+@[^\s@<>"]+$/i;

/** Returns whether a text of a customer has the form of a SIP URI with a user part: `sip:user@host`. */
export const isSipUri = (text: string): boolean => SIP_URI.test(text);
