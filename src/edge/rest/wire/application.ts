import type { AccountId, AppId } from '../../../base/ids.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { isoMicros } from '../../../base/time-format.ts';
import { inlineDocument, inlineXmlOf } from '../../../domain/callback/callback.ts';
import type { Application, ApplicationPatch } from '../../../domain/provisioning/types.ts';
import { parseAnswerXml } from '../../../protocol/answer-xml/answer-xml.ts';
import { type Failure, invalidField } from '../http/failure.ts';
import {
  accountIdText,
  flag,
  hinted,
  httpMethod,
  httpUrl,
  nullableText,
  oneOf,
  optionalHttpUrl,
  type Static,
  Type,
  timestamp,
} from '../http/schema.ts';
import { callerIdField, callerIdPatch } from '../http/values.ts';
import { defined } from './list.ts';

const APP_NAME_MAX = 200;
/** Maximum length of a stored document, characters. Each inbound call reads it. */
const XML_MAX = 32_768;

const appName = () =>
  hinted(
    Type.String({ minLength: 1, maxLength: APP_NAME_MAX, pattern: '\\S' }),
    `must have 1 to ${APP_NAME_MAX} characters`,
  );

const answerXml = () =>
  hinted(
    Type.String({
      minLength: 1,
      maxLength: XML_MAX,
      description: 'document that answers every call, stored by the service, instead of answer_url',
    }),
    `must have 1 to ${XML_MAX} characters`,
  );

/** Has no defaults: the domain has them, and an update must not set fields that it does not name. */
const optionalFields = {
  answer_method: Type.Optional(httpMethod()),
  hangup_url: Type.Optional(optionalHttpUrl()),
  hangup_method: Type.Optional(httpMethod()),
  fallback_answer_url: Type.Optional(optionalHttpUrl()),
  fallback_method: Type.Optional(httpMethod()),
  message_url: Type.Optional(optionalHttpUrl()),
  message_method: Type.Optional(httpMethod()),
  default_app: Type.Optional(flag()),
  default_endpoint_app: Type.Optional(flag()),
  enabled: Type.Optional(flag()),
  log_incoming_message: Type.Optional(flag()),
  public_uri: Type.Optional(flag()),
  caller_id: Type.Optional(callerIdField()),
};

/** Fields of an application whose calls an agent answers. */
const agentFields = {
  application_type: Type.Optional(
    oneOf(['XML', 'agent'], { description: 'XML: the answer URL; agent: the agent of `agent`' }),
  ),
  agent: Type.Optional(
    Type.Unsafe<object | string | null>({
      type: ['object', 'string', 'null'],
      description: 'definition of the agent: an object, or its YAML; null: none',
    }),
  ),
};

export const ApplicationCreateBody = Type.Object({
  app_name: appName(),
  answer_url: Type.Optional(httpUrl()),
  ...agentFields,
  answer_xml: Type.Optional(answerXml()),
  sub_account: Type.Optional(accountIdText()),
  subaccount: Type.Optional(accountIdText({ description: 'same as sub_account' })),
  ...optionalFields,
});

export const ApplicationUpdateBody = Type.Object({
  app_name: Type.Optional(appName()),
  answer_url: Type.Optional(httpUrl()),
  ...agentFields,
  answer_xml: Type.Optional(answerXml()),
  ...optionalFields,
});

type Fields = Static<typeof ApplicationUpdateBody>;

/**
 * Returns the URL that answers calls, or undefined if the body names none. A stored document becomes a URL that contains it.
 * The document must be valid.
 */
export function answerUrlOf({
  answer_url: url,
  answer_xml: xml,
}: Pick<Fields, 'answer_url' | 'answer_xml'>): Result<string | undefined, Failure> {
  if (xml === undefined) return ok(url);
  if (url !== undefined)
    return err(invalidField('answer_xml', 'is allowed only without answer_url'));
  // Whether a call may open an unencrypted stream is decided when the call runs the element.
  const read = parseAnswerXml(xml, { allowInsecureStreams: true });
  if (read.ok) return ok(inlineDocument(xml).url);
  const { line, column, message } = read.error;
  return err(
    invalidField('answer_xml', `is invalid in line ${line}, column ${column}: ${message}`),
  );
}

/** Converts the body to domain fields. `default_endpoint_app` is excluded because it belongs to the account. */
export const applicationPatch = (body: Fields): Omit<ApplicationPatch, 'name' | 'answerUrl'> => ({
  ...callerIdPatch(body.caller_id),
  ...defined({
    answerMethod: body.answer_method,
    hangupUrl: body.hangup_url,
    hangupMethod: body.hangup_method,
    fallbackAnswerUrl: body.fallback_answer_url,
    fallbackMethod: body.fallback_method,
    messageUrl: body.message_url,
    messageMethod: body.message_method,
    defaultApp: body.default_app,
    enabled: body.enabled,
    logIncomingMessage: body.log_incoming_message,
    publicUri: body.public_uri,
  }),
});

export const ApplicationSchema = Type.Object({
  api_id: Type.Optional(Type.String()),
  app_id: Type.String({ description: 'decimal digits' }),
  app_name: Type.String(),
  application_type: Type.String(),
  answer_url: Type.String({ description: 'empty if the application has a document' }),
  answer_xml: nullableText(),
  answer_method: Type.String(),
  hangup_url: Type.String(),
  hangup_method: Type.String(),
  fallback_answer_url: Type.String(),
  fallback_method: Type.String(),
  message_url: Type.String(),
  message_method: Type.String(),
  default_app: Type.Boolean(),
  default_endpoint_app: Type.Boolean(),
  enabled: Type.Boolean(),
  log_incoming_message: Type.Boolean(),
  public_uri: Type.Boolean(),
  caller_id: nullableText(),
  agent: Type.Unsafe<object | null>({ type: ['object', 'null'], additionalProperties: true }),
  sip_transfer_url: Type.String(),
  sip_transfer_method: Type.String(),
  sip_uri: Type.String(),
  sub_account: nullableText(),
  resource_uri: Type.String(),
  created_at: timestamp(),
  updated_at: timestamp(),
});

export const applicationUri = (accountId: AccountId, appId: AppId): string =>
  `/v1/Account/${accountId}/Application/${appId}/`;

export const showApplication = (
  application: Application,
  context: {
    readonly registrar: string;
    readonly defaultEndpointApp: AppId | undefined;
    /** Account of the client, whose credentials open `resource_uri`. */
    readonly authId: AccountId;
  },
): Static<typeof ApplicationSchema> => ({
  app_id: String(application.appId),
  app_name: application.name,
  application_type: application.agent === undefined ? 'XML' : 'agent',
  answer_url: inlineXmlOf(application.answerUrl) === undefined ? application.answerUrl : '',
  answer_xml: inlineXmlOf(application.answerUrl) ?? null,
  answer_method: application.answerMethod,
  hangup_url: application.hangupUrl,
  hangup_method: application.hangupMethod,
  fallback_answer_url: application.fallbackAnswerUrl,
  fallback_method: application.fallbackMethod,
  message_url: application.messageUrl,
  message_method: application.messageMethod,
  default_app: application.defaultApp,
  default_endpoint_app: context.defaultEndpointApp === application.appId,
  enabled: application.enabled,
  log_incoming_message: application.logIncomingMessage,
  public_uri: application.publicUri,
  caller_id: application.callerId ?? null,
  agent: application.agent === undefined ? null : JSON.parse(application.agent),
  sip_transfer_url: '',
  sip_transfer_method: 'POST',
  sip_uri: `sip:${application.appId}@${context.registrar}`,
  sub_account: application.subAccount ?? null,
  resource_uri: applicationUri(context.authId, application.appId),
  created_at: isoMicros(application.createdUs),
  updated_at: isoMicros(application.updatedUs),
});
