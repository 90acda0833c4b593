/** A registered contact, as the registrar makes it. It is stored, so that phones stay registered over a restart. */
export type { ContactBinding as Binding, TemporaryLogin } from '../../protocol/sip/sip.ts';
