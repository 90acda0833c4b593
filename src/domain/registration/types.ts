/** A registered contact, as the registrar makes it. Stored, so that a restart forgets nobody. */
export type { ContactBinding as Binding } from '../../protocol/sip/sip.ts';
