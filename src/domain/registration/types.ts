/** A registered contact. Bindings are stored, so that phones stay registered across a restart. */
export type { ContactBinding as Binding, TemporaryLogin } from '../../protocol/sip/sip.ts';
