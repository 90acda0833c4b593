// Made by scripts/client-api.ts from the API description (/admin/openapi.json). Not to be edited.

/** Reply that is a file; read it with file(). */
export type FileReply = { readonly file: true };
/** Query parameter. Numbers and booleans are converted to text; undefined is omitted. */
type Text = string | number | boolean | undefined;

/** Input and output of every operation by method and path. */
export interface Operations {
  /** Get the last use of the API credentials */
  'GET /api/v1/Account/{auth_id}/credentials-use': {
    path: { auth_id: string };
    reply: { last_used_at: string | null; last_address: string | null; last_user_agent: string | null; requests: number };
  };
  /** Get the account of the credentials */
  'GET /api/v1/auth/me': {
    reply: { type: string; id: string; api_id: string; name: string; email: string; phone: string; description: string; auth_id: string; auth_secret: string; auth_token_expire_time: string | null; country: string; currency: string; timezone: string; city: string; state: string; address: string; zip_code: string; company: string; account_type: string; postpaid: boolean; auto_recharge: boolean; enabled: boolean; customer_type: string; credit_limit: number; cps_limit: number; concurrent_calls_limit: number; base_cps_limit: number; base_concurrent_calls_limit: number; purchased_cps: number; purchased_concurrent_calls: number; features: { call_queue: boolean }; ip_auth_enabled: boolean; ip_whitelist_rules: {}; role: string; is_active: boolean; is_verified: boolean; is_trial_account: boolean; created_at: string; updated_at: string; last_login: string | null; pricing_tier_id: string | null };
  };
  /** Get the account details */
  'GET /api/v1/Account/{auth_id}/': {
    path: { auth_id: string };
    reply: { account_type: string; address: string; api_id?: string; auth_id: string; auto_recharge: boolean; billing_mode: string; cash_credits: string; city: string; country: string; currency: string; name: string; resource_uri: string; state: string; timezone: string };
  };
  /** Update the name or timezone of the account (Plivo form). Other details are not stored */
  'POST /api/v1/Account/{auth_id}/': {
    path: { auth_id: string };
    body?: { name?: string; timezone?: string; city?: null; address?: null };
    reply: { api_id: string; message: string };
  };
  /** Get the current concurrency of the account */
  'GET /api/v1/account/{auth_id}/capacity': {
    path: { auth_id: string };
    reply: { concurrent_calls: number; max_concurrent: number; concurrent_free: number; utilization_pct: number; running_campaigns: readonly { campaign_id: string; name: string; status: string; max_concurrent: number; running: number; queued: number }[] };
  };
  /** Get the number of running calls and the limit */
  'GET /api/v1/Account/{auth_id}/concurrency': {
    path: { auth_id: string };
    reply: { account_id: string; concurrent_calls: number; max_concurrent: number; utilization_pct: number; request_id: string };
  };
  /** Create a new auth token. The old one stays valid for the overlap */
  'POST /api/v1/Account/{auth_id}/token': {
    path: { auth_id: string };
    body?: { overlap_seconds?: number };
    reply: { api_id: string; auth_id: string; auth_token: string; overlap_seconds: number };
  };
  /** Create a short-lived read-only access token, to be sent as Bearer */
  'POST /api/v1/Account/{auth_id}/access-token': {
    path: { auth_id: string };
    body?: { expires_in?: number };
    reply: { access_token: string; token_type: string; expires_in: number };
  };
  /** List ledger entries, with totals of the whole filtered set */
  'GET /api/v1/Account/{auth_id}/transactions': {
    path: { auth_id: string };
    query?: { page?: Text; per_page?: Text; from_date?: Text; to_date?: Text; type?: Text; status?: Text; currency?: Text; reference_type?: Text; description?: Text; reference?: Text; transaction_id?: Text };
    reply: { transactions: readonly { id: string; account_id: string; balance_id: string; type: string; amount: number; currency: string; description: string; reference?: string; reference_type: string; status: string; processed_at: string; created_at: string; updated_at: string }[]; summary: { total_transactions: number; total_debit: number; total_credit: number; net_amount: number; by_reference_type: readonly { reference_type: string; total_debit: number; total_credit: number; count: number }[] }; total: number; page: number; per_page: number; total_pages: number };
  };
  /** List the spend sources of the account */
  'GET /api/v1/Account/{auth_id}/transactions/reference-types': {
    path: { auth_id: string };
    reply: { reference_types: readonly string[] };
  };
  /** Get the balance in one currency */
  'GET /api/v1/Account/{auth_id}/balance/{currency}': {
    path: { auth_id: string; currency: string };
    reply: { id: string; account_id: string; currency: string; balance: number; reserved_funds: number; promotional_balance: number; promotional_reserved_balance: number; available_balance: number; credit_limit: number; is_postpaid: boolean; credit_limit_type: string; low_balance_threshold: number; status: string; created_at: string; updated_at: string };
  };
  /** Get the low-balance alert settings */
  'GET /api/v1/Account/{auth_id}/low-balance-alert': {
    path: { auth_id: string };
    reply: { url: string | null; emails: readonly string[]; thresholds: Readonly<Record<string, number>> };
  };
  /** Update the low-balance alert settings: thresholds by currency, and the URL and addresses to notify. Absent fields stay unchanged */
  'POST /api/v1/Account/{auth_id}/low-balance-alert': {
    path: { auth_id: string };
    body?: { url?: string | null; emails?: readonly string[]; thresholds?: Readonly<Record<string, number>> };
    reply: { url: string | null; emails: readonly string[]; thresholds: Readonly<Record<string, number>> };
  };
  /** List the latest requests to the URLs of the account, latest first. Up to 500 are kept for 7 days */
  'GET /api/v1/Account/{auth_id}/webhooks': {
    path: { auth_id: string };
    query?: { limit?: Text; offset?: Text; outcome?: "delivered" | "failed" | undefined; event?: Text; call_uuid?: Text; search?: Text };
    reply: { objects: readonly { id: string; at: string; event: string; method: string; url: string; status: number | null; error: string | null; duration_ms: number; call_uuid: string | null; replay_of: string | null }[]; total: number; summary: { deliveries: number; failed: number; median_ms: number; p95_ms: number; pending: number } };
  };
  /** Get a request with its bodies and the signed text */
  'GET /api/v1/Account/{auth_id}/webhooks/{delivery_id}': {
    path: { auth_id: string; delivery_id: string };
    reply: { id: string; at: string; event: string; method: string; url: string; status: number | null; error: string | null; duration_ms: number; call_uuid: string | null; replay_of: string | null; request_body: string; response_body: string; signed_string: string };
  };
  /** Send the same request again with a new signature. It has no effect on the call */
  'POST /api/v1/Account/{auth_id}/webhooks/{delivery_id}/replay': {
    path: { auth_id: string; delivery_id: string };
    reply: { id: string; at: string; event: string; method: string; url: string; status: number | null; error: string | null; duration_ms: number; call_uuid: string | null; replay_of: string | null; request_body: string; response_body: string; signed_string: string };
  };
  /** Send a signed test request to a URL, and get the answer */
  'POST /api/v1/Account/{auth_id}/webhooks/test': {
    path: { auth_id: string };
    body: { url: string; method?: "GET" | "POST" };
    reply: { id: string; at: string; event: string; method: string; url: string; status: number | null; error: string | null; duration_ms: number; call_uuid: string | null; replay_of: string | null; request_body: string; response_body: string; signed_string: string };
  };
  /** Connect to a bot's WebSocket as a call would, speak, listen, and report faults. No call is placed */
  'POST /api/v1/Account/{auth_id}/stream-test': {
    path: { auth_id: string };
    body: { url: string; content_type?: "audio/x-l16;rate=8000" | "audio/x-l16;rate=16000" | "audio/x-mulaw;rate=8000"; seconds?: number };
    reply: { faults: readonly string[]; observations: readonly { name: string; value: string }[]; log: readonly string[] };
  };
  /** Create a SIP endpoint */
  'POST /api/v1/Account/{auth_id}/Endpoint/': {
    path: { auth_id: string };
    body: { username: string; password: string; alias: string; application?: number; app_id?: number; sub_account?: string; caller_id?: string | null; allow_voice?: boolean; allow_message?: boolean; allow_video?: boolean; allow_same_domain?: boolean; allow_other_domains?: boolean; allow_phones?: boolean; allow_apps?: boolean };
    reply: { api_id?: string; message?: string; endpoint_id: string; sip_uri?: string; resource_uri?: string; alias: string; username: string };
  };
  /** List SIP endpoints */
  'GET /api/v1/Account/{auth_id}/Endpoint/': {
    path: { auth_id: string };
    query?: { limit?: Text; offset?: Text; username__contains?: Text; username__exact?: Text; username__startswith?: Text; alias__contains?: Text; alias__exact?: Text; application_id__exact?: Text; application_id__isnull?: Text; sub_account?: Text };
    reply: { api_id: string; meta: { limit: number; offset: number; total_count: number; next: string | null; previous: string | null }; objects: readonly { endpoint_id: string; username: string; alias: string; sip_uri: string; sip_registered: string; application: string | null; sub_account: string | null; resource_uri: string; api_id?: string; app_id?: number | null; caller_id?: string | null; allow_voice?: boolean; allow_message?: boolean; allow_video?: boolean; allow_same_domain?: boolean; allow_other_domains?: boolean; allow_phones?: boolean; allow_apps?: boolean; created_at?: string; updated_at?: string; sip_contact?: string; sip_expires?: string; sip_user_agent?: string }[] };
  };
  /** Get a SIP endpoint */
  'GET /api/v1/Account/{auth_id}/Endpoint/{endpoint_id}/': {
    path: { auth_id: string; endpoint_id: string };
    reply: { endpoint_id: string; username: string; alias: string; sip_uri: string; sip_registered: string; application: string | null; sub_account: string | null; resource_uri: string; api_id?: string; app_id?: number | null; caller_id?: string | null; allow_voice?: boolean; allow_message?: boolean; allow_video?: boolean; allow_same_domain?: boolean; allow_other_domains?: boolean; allow_phones?: boolean; allow_apps?: boolean; created_at?: string; updated_at?: string; sip_contact?: string; sip_expires?: string; sip_user_agent?: string };
  };
  /** Update a SIP endpoint, for example its application by app_id */
  'POST /api/v1/Account/{auth_id}/Endpoint/{endpoint_id}/': {
    path: { auth_id: string; endpoint_id: string };
    body?: { app_id?: number | null; alias?: string; password?: string; caller_id?: string | null; allow_voice?: boolean; allow_message?: boolean; allow_video?: boolean; allow_same_domain?: boolean; allow_other_domains?: boolean; allow_phones?: boolean; allow_apps?: boolean };
    reply: { api_id: string; message: string };
  };
  /** Delete a SIP endpoint */
  'DELETE /api/v1/Account/{auth_id}/Endpoint/{endpoint_id}/': {
    path: { auth_id: string; endpoint_id: string };
    reply: undefined;
  };
  /** Create an application */
  'POST /api/v1/Account/{auth_id}/Application/': {
    path: { auth_id: string };
    body: { app_name: string; answer_url?: string; application_type?: "XML" | "agent"; agent?: Readonly<Record<string, unknown>> | string | null; answer_xml?: string; sub_account?: string; subaccount?: string; answer_method?: "GET" | "POST"; hangup_url?: string; hangup_method?: "GET" | "POST"; fallback_answer_url?: string; fallback_method?: "GET" | "POST"; message_url?: string; message_method?: "GET" | "POST"; default_app?: boolean; default_endpoint_app?: boolean; enabled?: boolean; log_incoming_message?: boolean; public_uri?: boolean; caller_id?: string | null };
    reply: { api_id: string; message: string; app_id: string };
  };
  /** List applications */
  'GET /api/v1/Account/{auth_id}/Application/': {
    path: { auth_id: string };
    query?: { limit?: Text; offset?: Text; subaccount?: Text; app_name__contains?: Text };
    reply: { api_id: string; meta: { limit: number; offset: number; total_count: number; next: string | null; previous: string | null }; objects: readonly { api_id?: string; app_id: string; app_name: string; application_type: string; answer_url: string; answer_xml: string | null; answer_method: string; hangup_url: string; hangup_method: string; fallback_answer_url: string; fallback_method: string; message_url: string; message_method: string; default_app: boolean; default_endpoint_app: boolean; enabled: boolean; log_incoming_message: boolean; public_uri: boolean; caller_id: string | null; agent: Readonly<Record<string, unknown>> | null; sip_transfer_url: string; sip_transfer_method: string; sip_uri: string; sub_account: string | null; resource_uri: string; created_at: string; updated_at: string }[] };
  };
  /** Get an application */
  'GET /api/v1/Account/{auth_id}/Application/{app_id}/': {
    path: { auth_id: string; app_id: string };
    reply: { api_id?: string; app_id: string; app_name: string; application_type: string; answer_url: string; answer_xml: string | null; answer_method: string; hangup_url: string; hangup_method: string; fallback_answer_url: string; fallback_method: string; message_url: string; message_method: string; default_app: boolean; default_endpoint_app: boolean; enabled: boolean; log_incoming_message: boolean; public_uri: boolean; caller_id: string | null; agent: Readonly<Record<string, unknown>> | null; sip_transfer_url: string; sip_transfer_method: string; sip_uri: string; sub_account: string | null; resource_uri: string; created_at: string; updated_at: string };
  };
  /** Update an application */
  'POST /api/v1/Account/{auth_id}/Application/{app_id}/': {
    path: { auth_id: string; app_id: string };
    body?: { app_name?: string; answer_url?: string; application_type?: "XML" | "agent"; agent?: Readonly<Record<string, unknown>> | string | null; answer_xml?: string; answer_method?: "GET" | "POST"; hangup_url?: string; hangup_method?: "GET" | "POST"; fallback_answer_url?: string; fallback_method?: "GET" | "POST"; message_url?: string; message_method?: "GET" | "POST"; default_app?: boolean; default_endpoint_app?: boolean; enabled?: boolean; log_incoming_message?: boolean; public_uri?: boolean; caller_id?: string | null };
    reply: { api_id: string; message: string };
  };
  /** Delete an application. Refused while numbers or endpoints are attached */
  'DELETE /api/v1/Account/{auth_id}/Application/{app_id}/': {
    path: { auth_id: string; app_id: string };
    body?: { cascade?: boolean; new_endpoint_application?: number };
    reply: undefined;
  };
  /** List the numbers of the account */
  'GET /api/v1/Account/{auth_id}/numbers': {
    path: { auth_id: string };
    query?: { page?: Text; per_page?: Text; search?: Text };
    reply: { items: readonly { id: string; account_id: string | null; sub_account_id: string | null; e164: string; country: string; region: string; capabilities: { voice: boolean; sms: boolean; mms: boolean; fax: boolean }; status: string; provider: string | null; setup_fee: number; monthly_fee: number; currency: string; application_id: number | null; trunk_group_id: string | null; voice_enabled: boolean; tags: readonly string[]; purchased_at: string | null; released_at: string | null; is_blocked: boolean; is_trial_number: boolean; last_billing_date: string | null; next_billing_date: string | null; cooldown_ends_at: string | null; suspended_at: string | null; alias: string | null; minimum_commitment_months: number; aadhaar_verification_required: boolean; aadhaar_verified: boolean; source: string; created_at: string; updated_at: string }[]; page: number; per_page: number; total: number };
  };
  /** List the numbers that can be bought */
  'GET /api/v1/Account/{auth_id}/inventory/numbers': {
    path: { auth_id: string };
    query?: { page?: Text; per_page?: Text; country?: Text; search?: Text };
    reply: { items: readonly { id: string; account_id: string | null; sub_account_id: string | null; e164: string; country: string; region: string; capabilities: { voice: boolean; sms: boolean; mms: boolean; fax: boolean }; status: string; provider: string | null; setup_fee: number; monthly_fee: number; currency: string; application_id: number | null; trunk_group_id: string | null; voice_enabled: boolean; tags: readonly string[]; purchased_at: string | null; released_at: string | null; is_blocked: boolean; is_trial_number: boolean; last_billing_date: string | null; next_billing_date: string | null; cooldown_ends_at: string | null; suspended_at: string | null; alias: string | null; minimum_commitment_months: number; aadhaar_verification_required: boolean; aadhaar_verified: boolean; source: string; created_at: string; updated_at: string }[]; page: number; per_page: number; total: number };
  };
  /** Get a number of the account */
  'GET /api/v1/Account/{auth_id}/numbers/{e164_number}': {
    path: { auth_id: string; e164_number: string };
    reply: { id: string; account_id: string | null; sub_account_id: string | null; e164: string; country: string; region: string; capabilities: { voice: boolean; sms: boolean; mms: boolean; fax: boolean }; status: string; provider: string | null; setup_fee: number; monthly_fee: number; currency: string; application_id: number | null; trunk_group_id: string | null; voice_enabled: boolean; tags: readonly string[]; purchased_at: string | null; released_at: string | null; is_blocked: boolean; is_trial_number: boolean; last_billing_date: string | null; next_billing_date: string | null; cooldown_ends_at: string | null; suspended_at: string | null; alias: string | null; minimum_commitment_months: number; aadhaar_verification_required: boolean; aadhaar_verified: boolean; source: string; created_at: string; updated_at: string };
  };
  /** Release a number. This can be undone until its cooldown ends */
  'DELETE /api/v1/Account/{auth_id}/numbers/{e164_number}': {
    path: { auth_id: string; e164_number: string };
    reply: { status: string; message: string; note: string; release_fee: number; cancel_url: string | null; cooldown_ends_at: string | null };
  };
  /** Buy a number. 402 if the available balance is too low */
  'POST /api/v1/Account/{auth_id}/numbers/purchase-from-inventory': {
    path: { auth_id: string };
    body: { e164: string; currency?: string };
    reply: { id: string; account_id: string | null; sub_account_id: string | null; e164: string; country: string; region: string; capabilities: { voice: boolean; sms: boolean; mms: boolean; fax: boolean }; status: string; provider: string | null; setup_fee: number; monthly_fee: number; currency: string; application_id: number | null; trunk_group_id: string | null; voice_enabled: boolean; tags: readonly string[]; purchased_at: string | null; released_at: string | null; is_blocked: boolean; is_trial_number: boolean; last_billing_date: string | null; next_billing_date: string | null; cooldown_ends_at: string | null; suspended_at: string | null; alias: string | null; minimum_commitment_months: number; aadhaar_verification_required: boolean; aadhaar_verified: boolean; source: string; created_at: string; updated_at: string };
  };
  /** Attach an application to a number, for its inbound calls */
  'POST /api/v1/Account/{auth_id}/numbers/{e164_number}/application': {
    path: { auth_id: string; e164_number: string };
    body: { application_id: number };
    reply: undefined;
  };
  /** Detach a number from its application */
  'DELETE /api/v1/Account/{auth_id}/numbers/{e164_number}/application': {
    path: { auth_id: string; e164_number: string };
    reply: undefined;
  };
  /** Attach a number to an inbound trunk */
  'POST /api/v1/Account/{auth_id}/numbers/{e164_number}/assign': {
    path: { auth_id: string; e164_number: string };
    body: { trunk_group_id: string };
    reply: undefined;
  };
  /** Detach a number from its trunk */
  'DELETE /api/v1/Account/{auth_id}/numbers/{e164_number}/assign': {
    path: { auth_id: string; e164_number: string };
    reply: undefined;
  };
  /** Undo the release of a number during its cooldown */
  'POST /api/v1/Account/{auth_id}/numbers/{e164_number}/cancel-release': {
    path: { auth_id: string; e164_number: string };
    reply: { id: string; account_id: string | null; sub_account_id: string | null; e164: string; country: string; region: string; capabilities: { voice: boolean; sms: boolean; mms: boolean; fax: boolean }; status: string; provider: string | null; setup_fee: number; monthly_fee: number; currency: string; application_id: number | null; trunk_group_id: string | null; voice_enabled: boolean; tags: readonly string[]; purchased_at: string | null; released_at: string | null; is_blocked: boolean; is_trial_number: boolean; last_billing_date: string | null; next_billing_date: string | null; cooldown_ends_at: string | null; suspended_at: string | null; alias: string | null; minimum_commitment_months: number; aadhaar_verification_required: boolean; aadhaar_verified: boolean; source: string; created_at: string; updated_at: string };
  };
  /** Assign a number to a sub-account, or unassign it with an empty ID */
  'POST /api/v1/Account/{auth_id}/numbers/{e164_number}/assign-subaccount': {
    path: { auth_id: string; e164_number: string };
    body: { sub_account_id: string };
    reply: undefined;
  };
  /** Unassign a number from its sub-account */
  'DELETE /api/v1/Account/{auth_id}/numbers/{e164_number}/assign-subaccount': {
    path: { auth_id: string; e164_number: string };
    query?: { force?: Text };
    reply: undefined;
  };
  /** Check whether calls to the number reach an application or trunk */
  'GET /api/v1/Account/{auth_id}/numbers/{e164_number}/health': {
    path: { auth_id: string; e164_number: string };
    reply: { e164: string; healthy: boolean; reason: string | null };
  };
  /** List the verified caller IDs that the account may present in addition to its numbers, and its default caller ID */
  'GET /api/v1/Account/{auth_id}/caller-ids': {
    path: { auth_id: string };
    reply: { default_caller_id: string | null; caller_ids: readonly { number: string }[] };
  };
  /** Set the default caller ID, used if call, endpoint and application name none; null removes it */
  'PUT /api/v1/Account/{auth_id}/caller-ids/default': {
    path: { auth_id: string };
    body: { number: string | null };
    reply: { default_caller_id: string | null; caller_ids: readonly { number: string }[] };
  };
  /** List the numbers of the account (Plivo form) */
  'GET /v1/Account/{auth_id}/Number/': {
    path: { auth_id: string };
    query?: { limit?: Text; offset?: Text };
    reply: { api_id: string; meta: { limit: number; offset: number; total_count: number; next: string | null; previous: string | null }; objects: readonly { number: string; country: string; region: string; monthly_rental_rate: string; resource_uri: string; sms_enabled: boolean; sms_rate: string; voice_enabled: boolean; voice_rate: string | null; added_on: string | null; alias: string | null; application: string | null; carrier: string | null; number_type: string; sub_account: string | null }[] };
  };
  /** Get a number of the account (Plivo form) */
  'GET /v1/Account/{auth_id}/Number/{number}/': {
    path: { auth_id: string; number: string };
    reply: { api_id: string; number: string; country: string; region: string; monthly_rental_rate: string; resource_uri: string; sms_enabled: boolean; sms_rate: string; voice_enabled: boolean; voice_rate: string | null; added_on: string | null; alias: string | null; application: string | null; carrier: string | null; number_type: string; sub_account: string | null };
  };
  /** Set the application, sub-account or alias of a number (Plivo form) */
  'POST /v1/Account/{auth_id}/Number/{number}/': {
    path: { auth_id: string; number: string };
    body?: { app_id?: number | ""; subaccount?: string; alias?: string | null };
    reply: { api_id: string; message: string };
  };
  /** Release a number (Plivo form) */
  'DELETE /v1/Account/{auth_id}/Number/{number}/': {
    path: { auth_id: string; number: string };
    reply: undefined;
  };
  /** List the numbers that can be bought (Plivo form) */
  'GET /v1/Account/{auth_id}/PhoneNumber/': {
    path: { auth_id: string };
    query: { limit?: Text; offset?: Text; country_iso: Text; pattern?: Text; type?: "any" | "fixed" | "local" | undefined; services?: "voice" | undefined };
    reply: { api_id: string; meta: { limit: number; offset: number; total_count: number; next: string | null; previous: string | null }; objects: readonly { number: string; country: string; region: string; monthly_rental_rate: string; resource_uri: string; sms_enabled: boolean; sms_rate: string; voice_enabled: boolean; voice_rate: string | null; city: string | null; lata: string | null; prefix: string | null; rate_center: string | null; restriction: string | null; restriction_text: string | null; setup_rate: string; type: string }[] };
  };
  /** Buy a number (Plivo form). 402 if the available balance is too low */
  'POST /v1/Account/{auth_id}/PhoneNumber/{number}/': {
    path: { auth_id: string; number: string };
    body?: { app_id?: number | "" };
    reply: { api_id: string; message: string; status: string; numbers: readonly { number: string; status: string }[] };
  };
  /** Get the prices of calls and numbers of a country, in the account's currency (Plivo form) */
  'GET /api/v1/Account/{auth_id}/Pricing/': {
    path: { auth_id: string };
    query: { country_iso: Text };
    reply: { api_id: string; country: string; country_code: string; country_iso: string; currency: string; phone_numbers: { local: { rate: string | null } }; voice: { inbound: { ip: { rate: string | null }; local: { rate: string | null } }; outbound: { ip: { rate: string | null }; local: { rate: string | null }; rates: readonly { prefix: readonly string[]; rate: string; billing_increment_seconds: number }[] } } };
  };
  /** Create a JSON Web Token (RFC 7519) for an endpoint, signed with the account's token. A web page uses it to log in its phone (POST /phone/login) */
  'POST /api/v1/Account/{auth_id}/JWT/Token/': {
    path: { auth_id: string };
    body: { iss: string; sub?: string; nbf?: number; exp?: number; app?: string; per?: { voice?: { incoming_allow?: boolean; outgoing_allow?: boolean } } };
    reply: { api_id: string; token: string };
  };
  /** Revoke a token by its jti. Its logins end, together with their registrations and calls */
  'DELETE /api/v1/Account/{auth_id}/JWT/Token/{jti}/': {
    path: { auth_id: string; jti: string };
    reply: undefined;
  };
  /** Create a trunk */
  'POST /api/v1/Account/{auth_id}/trunks': {
    path: { auth_id: string };
    body: { name: string; trunk_direction?: "inbound" | "outbound" | "both"; trunk_status?: "enabled" | "disabled"; transport?: "udp" | "tcp" | "tls"; secure?: boolean; primary_uri_uuid?: string | null; fallback_uri_uuid?: string | null; credential_uuid?: string | null; ipacl_uuid?: string | null; concurrent_calls_limit?: number; cps_limit?: number; description?: string; recording?: boolean; webhook_url?: string | null; webhook_method?: "GET" | "POST" };
    reply: { trunk_id: string; account_id: string; name: string; trunk_domain: string; trunk_direction: string; trunk_status: string; transport: string; secure: boolean; concurrent_calls_limit: number; cps_limit: number; primary_uri_uuid: string | null; fallback_uri_uuid: string | null; credential_uuid: string | null; ipacl_uuid: string | null; inbound_destination: string | null; description: string; recording: boolean; enable_transcription: boolean; pii_redaction: boolean; pii_entity_types: string | null; webhook_url: string | null; webhook_method: string; recording_webhook_enabled: boolean; created_at: string; updated_at: string };
  };
  /** List trunks */
  'GET /api/v1/Account/{auth_id}/trunks': {
    path: { auth_id: string };
    query?: { limit?: Text; offset?: Text };
    reply: { meta: { limit: number; offset: number; total: number }; objects: readonly { trunk_id: string; account_id: string; name: string; trunk_domain: string; trunk_direction: string; trunk_status: string; transport: string; secure: boolean; concurrent_calls_limit: number; cps_limit: number; primary_uri_uuid: string | null; fallback_uri_uuid: string | null; credential_uuid: string | null; ipacl_uuid: string | null; inbound_destination: string | null; description: string; recording: boolean; enable_transcription: boolean; pii_redaction: boolean; pii_entity_types: string | null; webhook_url: string | null; webhook_method: string; recording_webhook_enabled: boolean; created_at: string; updated_at: string }[] };
  };
  /** Get a trunk */
  'GET /api/v1/Account/{auth_id}/trunks/{trunk_id}': {
    path: { auth_id: string; trunk_id: string };
    reply: { trunk_id: string; account_id: string; name: string; trunk_domain: string; trunk_direction: string; trunk_status: string; transport: string; secure: boolean; concurrent_calls_limit: number; cps_limit: number; primary_uri_uuid: string | null; fallback_uri_uuid: string | null; credential_uuid: string | null; ipacl_uuid: string | null; inbound_destination: string | null; description: string; recording: boolean; enable_transcription: boolean; pii_redaction: boolean; pii_entity_types: string | null; webhook_url: string | null; webhook_method: string; recording_webhook_enabled: boolean; created_at: string; updated_at: string };
  };
  /** Update a trunk. Absent fields stay unchanged, null removes a part */
  'PUT /api/v1/Account/{auth_id}/trunks/{trunk_id}': {
    path: { auth_id: string; trunk_id: string };
    body?: { name?: string; trunk_direction?: "inbound" | "outbound" | "both"; trunk_status?: "enabled" | "disabled"; transport?: "udp" | "tcp" | "tls"; secure?: boolean; primary_uri_uuid?: string | null; fallback_uri_uuid?: string | null; credential_uuid?: string | null; ipacl_uuid?: string | null; concurrent_calls_limit?: number; cps_limit?: number; description?: string; recording?: boolean; webhook_url?: string | null; webhook_method?: "GET" | "POST" };
    reply: { trunk_id: string; account_id: string; name: string; trunk_domain: string; trunk_direction: string; trunk_status: string; transport: string; secure: boolean; concurrent_calls_limit: number; cps_limit: number; primary_uri_uuid: string | null; fallback_uri_uuid: string | null; credential_uuid: string | null; ipacl_uuid: string | null; inbound_destination: string | null; description: string; recording: boolean; enable_transcription: boolean; pii_redaction: boolean; pii_entity_types: string | null; webhook_url: string | null; webhook_method: string; recording_webhook_enabled: boolean; created_at: string; updated_at: string };
  };
  /** Delete a trunk. Refused while numbers are assigned to it */
  'DELETE /api/v1/Account/{auth_id}/trunks/{trunk_id}': {
    path: { auth_id: string; trunk_id: string };
    reply: undefined;
  };
  /** Create an origination URI. The default port is 5060 */
  'POST /api/v1/Account/{auth_id}/origination-uris': {
    path: { auth_id: string };
    body?: { name?: string; sip_uri?: string; uri?: string; priority?: number; weight?: number; enabled?: boolean; description?: string };
    reply: { id: string; account_id: string; name: string; uri: string; sip_uri: string; priority: number; weight: number; enabled: boolean; transport: string; description: string; created_at: string; updated_at: string };
  };
  /** List origination URIs */
  'GET /api/v1/Account/{auth_id}/origination-uris': {
    path: { auth_id: string };
    query?: { limit?: Text; offset?: Text };
    reply: { meta: { limit: number; offset: number; total: number }; objects: readonly { id: string; account_id: string; name: string; uri: string; sip_uri: string; priority: number; weight: number; enabled: boolean; transport: string; description: string; created_at: string; updated_at: string }[] };
  };
  /** List origination URIs */
  'GET /api/v1/Account/{auth_id}/trunks/origination-uris': {
    path: { auth_id: string };
    query?: { limit?: Text; offset?: Text };
    reply: { meta: { limit: number; offset: number; total: number }; objects: readonly { id: string; account_id: string; name: string; uri: string; sip_uri: string; priority: number; weight: number; enabled: boolean; transport: string; description: string; created_at: string; updated_at: string }[] };
  };
  /** Get one origination URI */
  'GET /api/v1/Account/{auth_id}/origination-uris/{id}': {
    path: { auth_id: string; id: string };
    reply: { id: string; account_id: string; name: string; uri: string; sip_uri: string; priority: number; weight: number; enabled: boolean; transport: string; description: string; created_at: string; updated_at: string };
  };
  /** Update one origination URI */
  'PUT /api/v1/Account/{auth_id}/origination-uris/{id}': {
    path: { auth_id: string; id: string };
    body?: { name?: string; sip_uri?: string; uri?: string; priority?: number; weight?: number; enabled?: boolean; description?: string };
    reply: { id: string; account_id: string; name: string; uri: string; sip_uri: string; priority: number; weight: number; enabled: boolean; transport: string; description: string; created_at: string; updated_at: string };
  };
  /** Delete one origination URI. Refused while a trunk uses it */
  'DELETE /api/v1/Account/{auth_id}/origination-uris/{id}': {
    path: { auth_id: string; id: string };
    reply: undefined;
  };
  /** Create credentials for trunks */
  'POST /api/v1/Account/{auth_id}/credentials': {
    path: { auth_id: string };
    body: { username: string; password: string; realm?: string; enabled?: boolean };
    reply: { id: string; account_id: string; username: string; password: string; realm: string; enabled: boolean; created_at: string; updated_at: string };
  };
  /** List credentials */
  'GET /api/v1/Account/{auth_id}/credentials': {
    path: { auth_id: string };
    query?: { limit?: Text; offset?: Text };
    reply: { meta: { limit: number; offset: number; total: number }; objects: readonly { id: string; account_id: string; username: string; password: string; realm: string; enabled: boolean; created_at: string; updated_at: string }[] };
  };
  /** List credentials */
  'GET /api/v1/Account/{auth_id}/trunks/credentials': {
    path: { auth_id: string };
    query?: { limit?: Text; offset?: Text };
    reply: { meta: { limit: number; offset: number; total: number }; objects: readonly { id: string; account_id: string; username: string; password: string; realm: string; enabled: boolean; created_at: string; updated_at: string }[] };
  };
  /** Get one credential */
  'GET /api/v1/Account/{auth_id}/credentials/{id}': {
    path: { auth_id: string; id: string };
    reply: { id: string; account_id: string; username: string; password: string; realm: string; enabled: boolean; created_at: string; updated_at: string };
  };
  /** Update one credential */
  'PUT /api/v1/Account/{auth_id}/credentials/{id}': {
    path: { auth_id: string; id: string };
    body?: { username?: string; password?: string; realm?: string; enabled?: boolean };
    reply: { id: string; account_id: string; username: string; password: string; realm: string; enabled: boolean; created_at: string; updated_at: string };
  };
  /** Delete one credential. Refused while a trunk uses it */
  'DELETE /api/v1/Account/{auth_id}/credentials/{id}': {
    path: { auth_id: string; id: string };
    reply: undefined;
  };
  /** Allow an address or range for trunks */
  'POST /api/v1/Account/{auth_id}/ip-acl': {
    path: { auth_id: string };
    body: { ip_address: string; description?: string; enabled?: boolean };
    reply: { id: string; account_id: string; ip_address: string; description: string; enabled: boolean; created_at: string; updated_at: string };
  };
  /** List IP ACLs */
  'GET /api/v1/Account/{auth_id}/ip-acl': {
    path: { auth_id: string };
    query?: { limit?: Text; offset?: Text };
    reply: { meta: { limit: number; offset: number; total: number }; objects: readonly { id: string; account_id: string; ip_address: string; description: string; enabled: boolean; created_at: string; updated_at: string }[] };
  };
  /** List IP ACLs */
  'GET /api/v1/Account/{auth_id}/trunks/ip-acl': {
    path: { auth_id: string };
    query?: { limit?: Text; offset?: Text };
    reply: { meta: { limit: number; offset: number; total: number }; objects: readonly { id: string; account_id: string; ip_address: string; description: string; enabled: boolean; created_at: string; updated_at: string }[] };
  };
  /** Get one IP ACL */
  'GET /api/v1/Account/{auth_id}/ip-acl/{id}': {
    path: { auth_id: string; id: string };
    reply: { id: string; account_id: string; ip_address: string; description: string; enabled: boolean; created_at: string; updated_at: string };
  };
  /** Update one IP ACL */
  'PUT /api/v1/Account/{auth_id}/ip-acl/{id}': {
    path: { auth_id: string; id: string };
    body?: { ip_address?: string; description?: string; enabled?: boolean };
    reply: { id: string; account_id: string; ip_address: string; description: string; enabled: boolean; created_at: string; updated_at: string };
  };
  /** Delete one IP ACL. Refused while a trunk uses it */
  'DELETE /api/v1/Account/{auth_id}/ip-acl/{id}': {
    path: { auth_id: string; id: string };
    reply: undefined;
  };
  /** Place calls to 1 to 1000 destinations */
  'POST /api/v1/Account/{auth_id}/Call/': {
    path: { auth_id: string };
    body: { from: string; to: string; answer_url: string; answer_method?: "GET" | "POST"; ring_url?: string; ring_method?: "GET" | "POST"; hangup_url?: string; hangup_method?: "GET" | "POST"; fallback_url?: string; fallback_method?: "GET" | "POST"; machine_detection?: string; machine_detection_time?: number; machine_detection_url?: string; machine_detection_method?: "GET" | "POST"; machine_detection_maximum_speech_length?: number; machine_detection_initial_silence?: number; machine_detection_maximum_words?: number; machine_detection_initial_greeting?: number; caller_name?: string; send_digits?: string; send_on_preanswer?: boolean; time_limit?: number; hangup_on_ring?: number; ring_timeout?: number; sip_headers?: string };
    reply: { api_id: string; request_uuid: string; message: string };
  };
  /** List the UUIDs of live or queued calls, or list finished calls */
  'GET /api/v1/Account/{auth_id}/Call/': {
    path: { auth_id: string };
    query?: { status?: "live" | "queued" | undefined; limit?: Text; offset?: Text; from_number?: Text; to_number?: Text; call_direction?: "inbound" | "outbound" | undefined; subaccount?: Text; parent_call_uuid?: Text; hangup_cause_code?: Text; hangup_source?: Text; end_time?: Text; end_time__gt?: Text; end_time__gte?: Text; end_time__lt?: Text; end_time__lte?: Text; bill_duration?: Text; bill_duration__gt?: Text; bill_duration__gte?: Text; bill_duration__lt?: Text; bill_duration__lte?: Text };
    reply: unknown;
  };
  /** Get a live, queued or finished call */
  'GET /api/v1/Account/{auth_id}/Call/{call_uuid}/': {
    path: { auth_id: string; call_uuid: string };
    query?: { status?: "live" | "queued" | undefined; call_uuid?: Text };
    reply: unknown;
  };
  /** Hang up a live call, or cancel a queued one */
  'DELETE /api/v1/Account/{auth_id}/Call/{call_uuid}/': {
    path: { auth_id: string; call_uuid: string };
    reply: undefined;
  };
  /** Transfer one leg, or both, to another document */
  'POST /api/v1/Account/{auth_id}/Call/{call_uuid}/': {
    path: { auth_id: string; call_uuid: string };
    body?: { legs?: "aleg" | "bleg" | "both"; aleg_url?: string; aleg_method?: "GET" | "POST"; bleg_url?: string; bleg_method?: "GET" | "POST" };
    reply: { api_id: string; message: string; call_uuid: string; call_uuids: readonly string[] };
  };
  /** Cancel the calls of a request that are still queued */
  'DELETE /api/v1/Account/{auth_id}/Request/{request_uuid}/': {
    path: { auth_id: string; request_uuid: string };
    reply: undefined;
  };
  /** Get the timeline of a call: SIP messages, document steps, callbacks, media events */
  'GET /api/v1/Account/{auth_id}/Call/{call_uuid}/log': {
    path: { auth_id: string; call_uuid: string };
    reply: { api_id: string; call_uuid: string; log: readonly { at: string; kind: string; text: string; facts: Readonly<Record<string, unknown>> }[] };
  };
  /** Get the current quality of an answered call, measured on the audio received from the other party */
  'GET /api/v1/Account/{auth_id}/Call/{call_uuid}/quality': {
    path: { auth_id: string; call_uuid: string };
    reply: { api_id: string; call_uuid: string; mos: number | null; jitter_ms: number; round_trip_ms: number | null; packets_received: number; packets_sent: number; packets_lost: number; packets_late: number };
  };
  /** Get quality samples of a call (initially every 5 s), also for a while after its end */
  'GET /api/v1/Account/{auth_id}/Call/{call_uuid}/quality/samples': {
    path: { auth_id: string; call_uuid: string };
    reply: { api_id: string; call_uuid: string; samples: readonly { at: string; packets_received: number; packets_sent: number; mos: number | null; jitter: number | null; packet_loss: number | null; playout_delay: number | null; packet_discard: number | null; round_trip_time: number | null; burst_density: number | null; burst_duration: number | null; gap_duration: number | null; r_factor: number | null; mos_sent: number | null; jitter_sent: number | null; packet_loss_sent: number | null; one_way_audio: boolean | null }[] };
  };
  /** Listen to an answered call: an endless WAV file. Left: audio from the other party. Right: audio sent to it */
  'POST /api/v1/Account/{auth_id}/Call/{call_uuid}/listen': {
    path: { auth_id: string; call_uuid: string };
    reply: FileReply;
  };
  /** Stream the messages of a running call's bots and the audio levels of both directions, as server-sent events */
  'GET /api/v1/Account/{auth_id}/Call/{call_uuid}/stream-events': {
    path: { auth_id: string; call_uuid: string };
    reply: FileReply;
  };
  /** Transfer a call with SIP REFER: the carrier or trunk calls the target itself */
  'POST /api/v1/Account/{auth_id}/Call/{call_uuid}/Refer/': {
    path: { auth_id: string; call_uuid: string };
    body: { refer_to: string; timeout?: number; callback_url?: string; callback_method?: "GET" | "POST" };
    reply: { api_id: string; message: string };
  };
  /** Transfer the caller of a bot to a colleague: blind, attended or warm */
  'POST /api/v1/Account/{auth_id}/Call/{call_uuid}/Transfer/': {
    path: { auth_id: string; call_uuid: string };
    body: { to: string; mode?: "blind" | "attended" | "warm"; stream?: "end" | "caller" | "colleague"; introduction?: string; music?: string; caller_id?: string; timeout?: number; on_failure?: "next" | "stream"; callback_url?: string; callback_method?: "GET" | "POST" };
    reply: { api_id: string; message: string };
  };
  /** Cancel a transfer: the colleague is hung up and the caller is with the bot again */
  'DELETE /api/v1/Account/{auth_id}/Call/{call_uuid}/Transfer/': {
    path: { auth_id: string; call_uuid: string };
    reply: undefined;
  };
  /** Record a live call */
  'POST /api/v1/Account/{auth_id}/Call/{call_uuid}/Record/': {
    path: { auth_id: string; call_uuid: string };
    body?: { time_limit?: number; file_format?: "mp3" | "wav"; record_channel_type?: "stereo" | "mono"; callback_url?: string; callback_method?: "GET" | "POST"; transcription_type?: "auto" | "hybrid"; transcription_url?: string; transcription_method?: "GET" | "POST" };
    reply: { api_id: string; message: string; recording_id: string; url: string };
  };
  /** Stop recording a live call */
  'DELETE /api/v1/Account/{auth_id}/Call/{call_uuid}/Record/': {
    path: { auth_id: string; call_uuid: string };
    query?: { recording_id?: Text };
    body?: { recording_id?: string; URL?: string };
    reply: undefined;
  };
  /** Pause the recordings of a live call, or one of them */
  'POST /api/v1/Account/{auth_id}/Call/{call_uuid}/Record/Pause/': {
    path: { auth_id: string; call_uuid: string };
    body?: { recording_id?: string };
    reply: { api_id: string; message: string };
  };
  /** Resume the recordings of a live call, or one of them */
  'POST /api/v1/Account/{auth_id}/Call/{call_uuid}/Record/Resume/': {
    path: { auth_id: string; call_uuid: string };
    body?: { recording_id?: string };
    reply: { api_id: string; message: string };
  };
  /** Play audio into a live call */
  'POST /api/v1/Account/{auth_id}/Call/{call_uuid}/Play/': {
    path: { auth_id: string; call_uuid: string };
    body: { urls: string; length?: number; legs?: "aleg" | "bleg" | "both"; loop?: boolean; mix?: boolean };
    reply: { api_id: string; message: string };
  };
  /** Stop playing audio into a live call */
  'DELETE /api/v1/Account/{auth_id}/Call/{call_uuid}/Play/': {
    path: { auth_id: string; call_uuid: string };
    reply: undefined;
  };
  /** Speak a text into a live call */
  'POST /api/v1/Account/{auth_id}/Call/{call_uuid}/Speak/': {
    path: { auth_id: string; call_uuid: string };
    body: { text: string; voice?: string; language?: string; legs?: "aleg" | "bleg" | "both"; loop?: boolean; mix?: boolean };
    reply: { api_id: string; message: string };
  };
  /** Stop speaking into a live call */
  'DELETE /api/v1/Account/{auth_id}/Call/{call_uuid}/Speak/': {
    path: { auth_id: string; call_uuid: string };
    reply: undefined;
  };
  /** Send keypad digits into a live call */
  'POST /api/v1/Account/{auth_id}/Call/{call_uuid}/DTMF/': {
    path: { auth_id: string; call_uuid: string };
    body: { digits: string; leg?: "aleg" | "bleg" | "both" };
    reply: { api_id: string; message: string };
  };
  /** Stream the audio of a live call to a WebSocket */
  'POST /api/v1/Account/{auth_id}/Call/{call_uuid}/Stream/': {
    path: { auth_id: string; call_uuid: string };
    body: { service_url: string; bidirectional?: boolean; audio_track?: "inbound" | "outbound" | "both"; stream_timeout?: number; content_type?: string; status_callback_url?: string; status_callback_method?: "GET" | "POST"; extra_headers?: string; play_positions?: boolean; speech_events?: boolean; barge_in?: "none" | "duck" | "clear"; speech_sensitivity?: number; speech_min_ms?: number; noise_suppression?: boolean; echo_cancellation?: boolean; gain_control?: boolean; speech_end_ms?: number };
    reply: { api_id: string; message: string; stream_id: string };
  };
  /** List the streams of a live call */
  'GET /api/v1/Account/{auth_id}/Call/{call_uuid}/Stream/': {
    path: { auth_id: string; call_uuid: string };
    query?: { limit?: Text; offset?: Text };
    reply: { api_id: string; meta: { count: number; limit: number; offset: number; next: string | null; previous: string | null }; objects: readonly { api_id?: string; stream_id: string; call_uuid: string; service_url: string; audio_track: string; bidirectional: boolean; content_type: string; sampling_rate: number; stream_timeout: number; status_callback_url: string | null; status_callback_method: string | null; status: string; start_time: string; end_time: string | null; bill_duration: number; rounded_bill_duration: number; billed_amount: number; created_at: string; resource_uri: string }[] };
  };
  /** Stop all streams of a call */
  'DELETE /api/v1/Account/{auth_id}/Call/{call_uuid}/Stream/': {
    path: { auth_id: string; call_uuid: string };
    query?: { drain?: Text };
    reply: undefined;
  };
  /** Get a stream of a live call */
  'GET /api/v1/Account/{auth_id}/Call/{call_uuid}/Stream/{stream_id}/': {
    path: { auth_id: string; call_uuid: string; stream_id: string };
    reply: { api_id?: string; stream_id: string; call_uuid: string; service_url: string; audio_track: string; bidirectional: boolean; content_type: string; sampling_rate: number; stream_timeout: number; status_callback_url: string | null; status_callback_method: string | null; status: string; start_time: string; end_time: string | null; bill_duration: number; rounded_bill_duration: number; billed_amount: number; created_at: string; resource_uri: string };
  };
  /** Stop a stream */
  'DELETE /api/v1/Account/{auth_id}/Call/{call_uuid}/Stream/{stream_id}/': {
    path: { auth_id: string; call_uuid: string; stream_id: string };
    query?: { drain?: Text };
    reply: undefined;
  };
  /** List the names of running conferences */
  'GET /api/v1/Account/{auth_id}/Conference/': {
    path: { auth_id: string };
    reply: { api_id: string; conferences: readonly string[] };
  };
  /** End all conferences */
  'DELETE /api/v1/Account/{auth_id}/Conference/': {
    path: { auth_id: string };
    reply: undefined;
  };
  /** Get a conference and its members */
  'GET /api/v1/Account/{auth_id}/Conference/{name}/': {
    path: { auth_id: string; name: string };
    reply: { api_id: string; conference_name: string; conference_uuid: string; conference_run_time: string; conference_member_count: string; members: readonly { muted: boolean; member_id: string; deaf: boolean; from: string; to: string; caller_name: string; direction: string; call_uuid: string; join_time: string }[] };
  };
  /** End a conference */
  'DELETE /api/v1/Account/{auth_id}/Conference/{name}/': {
    path: { auth_id: string; name: string };
    reply: undefined;
  };
  /** Record a conference */
  'POST /api/v1/Account/{auth_id}/Conference/{name}/Record/': {
    path: { auth_id: string; name: string };
    body?: { time_limit?: number; file_format?: "mp3" | "wav"; record_channel_type?: "stereo" | "mono"; callback_url?: string; callback_method?: "GET" | "POST"; transcription_type?: "auto" | "hybrid"; transcription_url?: string; transcription_method?: "GET" | "POST" };
    reply: { api_id: string; message: string; recording_id: string; url: string };
  };
  /** Stop recording a conference */
  'DELETE /api/v1/Account/{auth_id}/Conference/{name}/Record/': {
    path: { auth_id: string; name: string };
    reply: undefined;
  };
  /** Mute members */
  'POST /api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/Mute/': {
    path: { auth_id: string; name: string; member_id: string };
    reply: { api_id: string; message: string; member_id: string | readonly string[] };
  };
  /** Unmute members */
  'DELETE /api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/Mute/': {
    path: { auth_id: string; name: string; member_id: string };
    reply: { api_id: string; message: string; member_id: string | readonly string[] };
  };
  /** Deafen members, so that they hear nothing */
  'POST /api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/Deaf/': {
    path: { auth_id: string; name: string; member_id: string };
    reply: { api_id: string; message: string; member_id: string | readonly string[] };
  };
  /** Undeafen members */
  'DELETE /api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/Deaf/': {
    path: { auth_id: string; name: string; member_id: string };
    reply: { api_id: string; message: string; member_id: string | readonly string[] };
  };
  /** Remove members from the room. Their calls continue */
  'POST /api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/Kick/': {
    path: { auth_id: string; name: string; member_id: string };
    reply: { api_id: string; message: string; member_id: string | readonly string[] };
  };
  /** Hang up members */
  'DELETE /api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/': {
    path: { auth_id: string; name: string; member_id: string };
    reply: { api_id: string; message: string; member_id: string | readonly string[] };
  };
  /** Stop playing to members */
  'DELETE /api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/Play/': {
    path: { auth_id: string; name: string; member_id: string };
    reply: { api_id: string; message: string; member_id: string | readonly string[] };
  };
  /** Play audio to members */
  'POST /api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/Play/': {
    path: { auth_id: string; name: string; member_id: string };
    body: { url: string };
    reply: { api_id: string; message: string; member_id: string | readonly string[] };
  };
  /** Stop speaking to members */
  'DELETE /api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/Speak/': {
    path: { auth_id: string; name: string; member_id: string };
    reply: { api_id: string; message: string; member_id: string | readonly string[] };
  };
  /** Speak a text to members */
  'POST /api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/Speak/': {
    path: { auth_id: string; name: string; member_id: string };
    body: { text: string; voice?: string; language?: string };
    reply: { api_id: string; message: string; member_id: string | readonly string[] };
  };
  /** List multi-party calls: running ones, then those that ended in the last week, latest first */
  'GET /api/v1/Account/{auth_id}/MultiPartyCall/': {
    path: { auth_id: string };
    query?: { friendly_name?: Text; status?: "initialized" | "active" | "ended" | undefined; termination_cause_code?: Text; end_time?: Text; end_time__gt?: Text; end_time__gte?: Text; end_time__lt?: Text; end_time__lte?: Text; creation_time?: Text; creation_time__gt?: Text; creation_time__gte?: Text; creation_time__lt?: Text; creation_time__lte?: Text; limit?: Text; offset?: Text };
    reply: { api_id: string; meta: { limit: number; offset: number; total_count: number; next: string | null; previous: string | null }; objects: readonly { friendly_name: string; mpc_uuid: string; status: "Initialized" | "Active" | "Ended"; duration: number; participant_count: number; participants: string; recording: "not-recording" | "recording" | "paused"; creation_time: string | null; start_time: string | null; end_time: string | null; termination_cause: string | null; termination_cause_code: number | null; resource_uri: string }[] };
  };
  /** Get a running or ended multi-party call */
  'GET /api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/': {
    path: { auth_id: string; mpc_id: string };
    reply: { api_id: string; friendly_name: string; mpc_uuid: string; status: "Initialized" | "Active" | "Ended"; duration: number; participant_count: number; participants: string; recording: "not-recording" | "recording" | "paused"; creation_time: string | null; start_time: string | null; end_time: string | null; termination_cause: string | null; termination_cause_code: number | null; resource_uri: string };
  };
  /** Start a multi-party call, regardless of its participants */
  'POST /api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/': {
    path: { auth_id: string; mpc_id: string };
    body: { status: "active" | readonly "active"[] };
    reply: { api_id: string; message: string };
  };
  /** End a multi-party call and the calls in it */
  'DELETE /api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/': {
    path: { auth_id: string; mpc_id: string };
    reply: undefined;
  };
  /** Add a participant to a multi-party call, by a new call or by moving a live call */
  'POST /api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Participant/': {
    path: { auth_id: string; mpc_id: string };
    body: { role: "agent" | "supervisor" | "customer" | "Agent" | "Supervisor" | "Customer"; from?: string; to?: string; call_uuid?: string; caller_name?: string; call_status_callback_url?: string; call_status_callback_method?: "GET" | "POST"; ring_timeout?: number | string; max_duration?: number; max_participants?: number; wait_music_url?: string; agent_hold_music_url?: string; customer_hold_music_url?: string; status_callback_url?: string; status_callback_events?: string; recording_callback_url?: string; on_exit_action_url?: string; record?: boolean; record_file_format?: "mp3" | "wav"; coach_mode?: boolean; mute?: boolean; hold?: boolean; stay_alone?: boolean; start_mpc_on_enter?: boolean; end_mpc_on_exit?: boolean; relay_dtmf_inputs?: boolean; enter_sound?: string; exit_sound?: string };
    reply: { api_id: string; message: string; request_uuid?: string; calls: readonly { to: string; from: string; call_uuid: string }[] };
  };
  /** List the members of a multi-party call: current members first, then those who left */
  'GET /api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Participant/': {
    path: { auth_id: string; mpc_id: string };
    query?: { call_uuid?: Text };
    reply: { api_id: string; objects: readonly { member_id: string; mpc_uuid: string; call_uuid: string; role: string; from: string; to: string; direction: string; mute: boolean; hold: boolean; coach_mode: boolean; recording: "not-recording" | "recording" | "paused"; start_mpc_on_enter: boolean; end_mpc_on_exit: boolean; duration: number; join_time: string | null; exit_time: string | null; exit_cause: string | null; resource_uri: string }[] };
  };
  /** Get a member of a multi-party call */
  'GET /api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Participant/{participant_id}/': {
    path: { auth_id: string; mpc_id: string; participant_id: string };
    reply: { api_id: string; member_id: string; mpc_uuid: string; call_uuid: string; role: string; from: string; to: string; direction: string; mute: boolean; hold: boolean; coach_mode: boolean; recording: "not-recording" | "recording" | "paused"; start_mpc_on_enter: boolean; end_mpc_on_exit: boolean; duration: number; join_time: string | null; exit_time: string | null; exit_cause: string | null; resource_uri: string };
  };
  /** Mute, hold or coach a member */
  'POST /api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Participant/{participant_id}/': {
    path: { auth_id: string; mpc_id: string; participant_id: string };
    body?: { mute?: boolean; hold?: boolean; coach_mode?: boolean };
    reply: { api_id: string; mute?: string; hold?: string; coach_mode?: string };
  };
  /** Remove a member. Its document continues */
  'DELETE /api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Participant/{participant_id}/': {
    path: { auth_id: string; mpc_id: string; participant_id: string };
    reply: undefined;
  };
  /** Record a multi-party call */
  'POST /api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Record/': {
    path: { auth_id: string; mpc_id: string };
    body?: { file_format?: "mp3" | "wav"; recording_callback_url?: string; recording_callback_method?: "GET" | "POST" };
    reply: { api_id: string; message: string; recording_id: string; recording_url: string; url: string };
  };
  /** Stop recording a multi-party call */
  'DELETE /api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Record/': {
    path: { auth_id: string; mpc_id: string };
    reply: undefined;
  };
  /** Pause the recording of a multi-party call. The pause is not recorded and not charged */
  'POST /api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Record/Pause/': {
    path: { auth_id: string; mpc_id: string };
    reply: undefined;
  };
  /** Resume the recording of a multi-party call */
  'POST /api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Record/Resume/': {
    path: { auth_id: string; mpc_id: string };
    reply: undefined;
  };
  /** Record a member of a multi-party call */
  'POST /api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Participant/{participant_id}/Record/': {
    path: { auth_id: string; mpc_id: string; participant_id: string };
    body?: { file_format?: "mp3" | "wav"; recording_callback_url?: string; recording_callback_method?: "GET" | "POST"; record_track_type?: "participant" | "all" };
    reply: { api_id: string; message: string; recording_id: string; recording_url: string; url: string };
  };
  /** Stop the recording of a member */
  'DELETE /api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Participant/{participant_id}/Record/': {
    path: { auth_id: string; mpc_id: string; participant_id: string };
    reply: undefined;
  };
  /** Pause the recording of a member */
  'POST /api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Participant/{participant_id}/Record/Pause/': {
    path: { auth_id: string; mpc_id: string; participant_id: string };
    reply: undefined;
  };
  /** Resume the recording of a member */
  'POST /api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Participant/{participant_id}/Record/Resume/': {
    path: { auth_id: string; mpc_id: string; participant_id: string };
    reply: undefined;
  };
  /** Play a file to one member, mixed with the room's audio */
  'POST /api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Member/{participant_id}/Play/': {
    path: { auth_id: string; mpc_id: string; participant_id: string };
    body: { url: string };
    reply: { api_id: string; message: string; mpcMemberId: readonly string[]; mpcName: string };
  };
  /** Stop playing to a member */
  'DELETE /api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Member/{participant_id}/Play/': {
    path: { auth_id: string; mpc_id: string; participant_id: string };
    reply: undefined;
  };
  /** List call records, latest first */
  'GET /api/v1/Account/{auth_id}/cdr': {
    path: { auth_id: string };
    query?: { from_number?: Text; to_number?: Text; start_date?: Text; end_date?: Text; call_direction?: "inbound" | "outbound" | undefined; min_duration?: Text; sip_call_id?: Text; bridge_uuid?: Text; hangup_cause?: Text; hangup_disposition?: Text; context?: Text; campaign_id?: Text; trunk_id?: Text; hangup_cause_code?: Text; min_cost?: Text; max_cost?: Text; one_way_audio?: Text; sub_account?: Text; search?: Text; page?: Text; per_page?: Text };
    reply: { account_id: string; count: number; data: readonly { id: number; uuid: string; account_id: string; call_direction: string; context: string; region: string; origination_region: string; caller_id_name: string; caller_id_number: string; destination_number: string; start_time: string; progress_time: string | null; answer_time: string | null; end_time: string; duration: number; billsec: number; ring_time: number; cost: number; streaming_cost: number; total_cost: number; currency: string; hangup_cause: string; hangup_cause_code: number; hangup_cause_name: string; hangup_source: string; hangup_disposition: string; failure_code: number | null; failure_reason: string | null; bridge_uuid: string | null; sip_call_id: string | null; sip_user_agent: string | null; network_addr: string | null; carrier_ip: string | null; codec: string | null; mos: number | null; jitter: number | null; packet_loss: number | null; campaign_id: string | null; customer_endpoint: string | null; trunk_id: string | null; terminated_to: string | null; created_at: string; updated_at: string; packet_discard?: number | null; round_trip_time?: number | null; burst_density?: number | null; burst_duration?: number | null; gap_duration?: number | null; r_factor?: number | null; mos_sent?: number | null; jitter_sent?: number | null; packet_loss_sent?: number | null; one_way_audio?: boolean | null; rounded_bill_duration?: number; stir_verification?: string; stir_attestation?: string; consent?: string | null; consent_at?: string | null; stream_termination_reason?: string | null; stream_cdrs?: readonly { stream_id: string; service_url: string; audio_track: string; bidirectional: boolean; content_type: string; start_time: string; end_time: string; duration: number; rounded_bill_duration: number; billed_amount: number; currency: string; stream_termination_reason: string; disclosed_at?: string; turns?: { count: number; interruptions: number; p50_ms: number | null; p95_ms: number | null } }[] }[]; success: boolean; pagination: { page: number; per_page: number; total: number; pages: number; has_next: boolean; has_prev: boolean }; summary: { totalCalls: number; answeredCalls: number; answerRate: number; avgCallDuration: string; total_duration_seconds: number; total_billable_seconds: number; total_cost: number; last_call_at: string | null } };
  };
  /** List call records; the response repeats the filters */
  'GET /api/v1/Account/{auth_id}/cdr/search': {
    path: { auth_id: string };
    query?: { from_number?: Text; to_number?: Text; start_date?: Text; end_date?: Text; call_direction?: "inbound" | "outbound" | undefined; min_duration?: Text; sip_call_id?: Text; bridge_uuid?: Text; hangup_cause?: Text; hangup_disposition?: Text; context?: Text; campaign_id?: Text; trunk_id?: Text; hangup_cause_code?: Text; min_cost?: Text; max_cost?: Text; one_way_audio?: Text; sub_account?: Text; search?: Text; page?: Text; per_page?: Text };
    reply: { account_id: string; count: number; data: readonly { id: number; uuid: string; account_id: string; call_direction: string; context: string; region: string; origination_region: string; caller_id_name: string; caller_id_number: string; destination_number: string; start_time: string; progress_time: string | null; answer_time: string | null; end_time: string; duration: number; billsec: number; ring_time: number; cost: number; streaming_cost: number; total_cost: number; currency: string; hangup_cause: string; hangup_cause_code: number; hangup_cause_name: string; hangup_source: string; hangup_disposition: string; failure_code: number | null; failure_reason: string | null; bridge_uuid: string | null; sip_call_id: string | null; sip_user_agent: string | null; network_addr: string | null; carrier_ip: string | null; codec: string | null; mos: number | null; jitter: number | null; packet_loss: number | null; campaign_id: string | null; customer_endpoint: string | null; trunk_id: string | null; terminated_to: string | null; created_at: string; updated_at: string; packet_discard?: number | null; round_trip_time?: number | null; burst_density?: number | null; burst_duration?: number | null; gap_duration?: number | null; r_factor?: number | null; mos_sent?: number | null; jitter_sent?: number | null; packet_loss_sent?: number | null; one_way_audio?: boolean | null; rounded_bill_duration?: number; stir_verification?: string; stir_attestation?: string; consent?: string | null; consent_at?: string | null; stream_termination_reason?: string | null; stream_cdrs?: readonly { stream_id: string; service_url: string; audio_track: string; bidirectional: boolean; content_type: string; start_time: string; end_time: string; duration: number; rounded_bill_duration: number; billed_amount: number; currency: string; stream_termination_reason: string; disclosed_at?: string; turns?: { count: number; interruptions: number; p50_ms: number | null; p95_ms: number | null } }[] }[]; success: boolean; pagination: { page: number; per_page: number; total: number; pages: number; has_next: boolean; has_prev: boolean }; summary: { totalCalls: number; answeredCalls: number; answerRate: number; avgCallDuration: string; total_duration_seconds: number; total_billable_seconds: number; total_cost: number; last_call_at: string | null }; filters: { call_direction?: string; from_number?: string; hangup_cause?: string; to_number?: string } };
  };
  /** List the latest call records */
  'GET /api/v1/Account/{auth_id}/cdr/recent': {
    path: { auth_id: string };
    query?: { limit?: Text };
    reply: { account_id: string; count: number; data: readonly { id: number; uuid: string; account_id: string; call_direction: string; context: string; region: string; origination_region: string; caller_id_name: string; caller_id_number: string; destination_number: string; start_time: string; progress_time: string | null; answer_time: string | null; end_time: string; duration: number; billsec: number; ring_time: number; cost: number; streaming_cost: number; total_cost: number; currency: string; hangup_cause: string; hangup_cause_code: number; hangup_cause_name: string; hangup_source: string; hangup_disposition: string; failure_code: number | null; failure_reason: string | null; bridge_uuid: string | null; sip_call_id: string | null; sip_user_agent: string | null; network_addr: string | null; carrier_ip: string | null; codec: string | null; mos: number | null; jitter: number | null; packet_loss: number | null; campaign_id: string | null; customer_endpoint: string | null; trunk_id: string | null; terminated_to: string | null; created_at: string; updated_at: string; packet_discard?: number | null; round_trip_time?: number | null; burst_density?: number | null; burst_duration?: number | null; gap_duration?: number | null; r_factor?: number | null; mos_sent?: number | null; jitter_sent?: number | null; packet_loss_sent?: number | null; one_way_audio?: boolean | null; rounded_bill_duration?: number; stir_verification?: string; stir_attestation?: string; consent?: string | null; consent_at?: string | null; stream_termination_reason?: string | null; stream_cdrs?: readonly { stream_id: string; service_url: string; audio_track: string; bidirectional: boolean; content_type: string; start_time: string; end_time: string; duration: number; rounded_bill_duration: number; billed_amount: number; currency: string; stream_termination_reason: string; disclosed_at?: string; turns?: { count: number; interruptions: number; p50_ms: number | null; p95_ms: number | null } }[] }[]; success: boolean };
  };
  /** Download call records as CSV, or as JSON lines with all fields */
  'GET /api/v1/Account/{auth_id}/cdr/export': {
    path: { auth_id: string };
    query?: { from_number?: Text; to_number?: Text; start_date?: Text; end_date?: Text; call_direction?: "inbound" | "outbound" | undefined; min_duration?: Text; sip_call_id?: Text; bridge_uuid?: Text; hangup_cause?: Text; hangup_disposition?: Text; context?: Text; campaign_id?: Text; trunk_id?: Text; hangup_cause_code?: Text; min_cost?: Text; max_cost?: Text; one_way_audio?: Text; sub_account?: Text; search?: Text; min_mos?: Text; max_mos?: Text; format?: "csv" | "ndjson" | undefined };
    reply: FileReply;
  };
  /** Get a call record, with voice and stream charges as separate lines */
  'GET /api/v1/Account/{auth_id}/cdr/{call_uuid}': {
    path: { auth_id: string; call_uuid: string };
    reply: { data: { id: number; uuid: string; account_id: string; call_direction: string; context: string; region: string; origination_region: string; caller_id_name: string; caller_id_number: string; destination_number: string; start_time: string; progress_time: string | null; answer_time: string | null; end_time: string; duration: number; billsec: number; ring_time: number; cost: number; streaming_cost: number; total_cost: number; currency: string; hangup_cause: string; hangup_cause_code: number; hangup_cause_name: string; hangup_source: string; hangup_disposition: string; failure_code: number | null; failure_reason: string | null; bridge_uuid: string | null; sip_call_id: string | null; sip_user_agent: string | null; network_addr: string | null; carrier_ip: string | null; codec: string | null; mos: number | null; jitter: number | null; packet_loss: number | null; campaign_id: string | null; customer_endpoint: string | null; trunk_id: string | null; terminated_to: string | null; created_at: string; updated_at: string; packet_discard?: number | null; round_trip_time?: number | null; burst_density?: number | null; burst_duration?: number | null; gap_duration?: number | null; r_factor?: number | null; mos_sent?: number | null; jitter_sent?: number | null; packet_loss_sent?: number | null; one_way_audio?: boolean | null; rounded_bill_duration?: number; stir_verification?: string; stir_attestation?: string; consent?: string | null; consent_at?: string | null; stream_termination_reason?: string | null; stream_cdrs?: readonly { stream_id: string; service_url: string; audio_track: string; bidirectional: boolean; content_type: string; start_time: string; end_time: string; duration: number; rounded_bill_duration: number; billed_amount: number; currency: string; stream_termination_reason: string; disclosed_at?: string; turns?: { count: number; interruptions: number; p50_ms: number | null; p95_ms: number | null } }[] }; success: boolean };
  };
  /** Get a call record of the account in the credentials */
  'GET /api/v1/cdr/{call_uuid}': {
    path: { call_uuid: string };
    reply: { data: { id: number; uuid: string; account_id: string; call_direction: string; context: string; region: string; origination_region: string; caller_id_name: string; caller_id_number: string; destination_number: string; start_time: string; progress_time: string | null; answer_time: string | null; end_time: string; duration: number; billsec: number; ring_time: number; cost: number; streaming_cost: number; total_cost: number; currency: string; hangup_cause: string; hangup_cause_code: number; hangup_cause_name: string; hangup_source: string; hangup_disposition: string; failure_code: number | null; failure_reason: string | null; bridge_uuid: string | null; sip_call_id: string | null; sip_user_agent: string | null; network_addr: string | null; carrier_ip: string | null; codec: string | null; mos: number | null; jitter: number | null; packet_loss: number | null; campaign_id: string | null; customer_endpoint: string | null; trunk_id: string | null; terminated_to: string | null; created_at: string; updated_at: string; packet_discard?: number | null; round_trip_time?: number | null; burst_density?: number | null; burst_duration?: number | null; gap_duration?: number | null; r_factor?: number | null; mos_sent?: number | null; jitter_sent?: number | null; packet_loss_sent?: number | null; one_way_audio?: boolean | null; rounded_bill_duration?: number; stir_verification?: string; stir_attestation?: string; consent?: string | null; consent_at?: string | null; stream_termination_reason?: string | null; stream_cdrs?: readonly { stream_id: string; service_url: string; audio_track: string; bidirectional: boolean; content_type: string; start_time: string; end_time: string; duration: number; rounded_bill_duration: number; billed_amount: number; currency: string; stream_termination_reason: string; disclosed_at?: string; turns?: { count: number; interruptions: number; p50_ms: number | null; p95_ms: number | null } }[] }; success: boolean };
  };
  /** List call records, latest first, by cursor and without totals. A request examines up to 50,000 records; `next_cursor` continues */
  'GET /api/v1/Account/{auth_id}/cdr/page': {
    path: { auth_id: string };
    query?: { cursor?: Text; limit?: Text; search?: Text; start_date?: Text; end_date?: Text; call_direction?: "inbound" | "outbound" | undefined; min_duration?: Text; hangup_cause_code?: Text; campaign_id?: Text; trunk_id?: Text; min_cost?: Text; max_cost?: Text; min_mos?: Text; max_mos?: Text; one_way_audio?: Text; sub_account?: Text };
    reply: { data: readonly { id: number; uuid: string; account_id: string; call_direction: string; context: string; region: string; origination_region: string; caller_id_name: string; caller_id_number: string; destination_number: string; start_time: string; progress_time: string | null; answer_time: string | null; end_time: string; duration: number; billsec: number; ring_time: number; cost: number; streaming_cost: number; total_cost: number; currency: string; hangup_cause: string; hangup_cause_code: number; hangup_cause_name: string; hangup_source: string; hangup_disposition: string; failure_code: number | null; failure_reason: string | null; bridge_uuid: string | null; sip_call_id: string | null; sip_user_agent: string | null; network_addr: string | null; carrier_ip: string | null; codec: string | null; mos: number | null; jitter: number | null; packet_loss: number | null; campaign_id: string | null; customer_endpoint: string | null; trunk_id: string | null; terminated_to: string | null; created_at: string; updated_at: string; packet_discard?: number | null; round_trip_time?: number | null; burst_density?: number | null; burst_duration?: number | null; gap_duration?: number | null; r_factor?: number | null; mos_sent?: number | null; jitter_sent?: number | null; packet_loss_sent?: number | null; one_way_audio?: boolean | null; rounded_bill_duration?: number; stir_verification?: string; stir_attestation?: string; consent?: string | null; consent_at?: string | null; stream_termination_reason?: string | null; stream_cdrs?: readonly { stream_id: string; service_url: string; audio_track: string; bidirectional: boolean; content_type: string; start_time: string; end_time: string; duration: number; rounded_bill_duration: number; billed_amount: number; currency: string; stream_termination_reason: string; disclosed_at?: string; turns?: { count: number; interruptions: number; p50_ms: number | null; p95_ms: number | null } }[] }[]; next_cursor: number | null; reached_limit: boolean; searched_to: string | null };
  };
  /** Get calls, answers, answered seconds and charges of each of the last hours */
  'GET /api/v1/Account/{auth_id}/cdr/hourly': {
    path: { auth_id: string };
    query?: { hours?: Text };
    reply: { hours: readonly { hour: string; calls: number; answered: number; answered_seconds: number; cost: number }[]; mos: number | null };
  };
  /** List recordings, latest first */
  'GET /api/v1/Account/{auth_id}/Recording/': {
    path: { auth_id: string };
    query?: { limit?: Text; offset?: Text; call_uuid?: Text; from_number?: Text; to_number?: Text; conference_name?: Text; conference_uuid?: Text; subaccount?: Text; mpc_name?: Text; mpc_uuid?: Text; add_time?: Text; add_time__gt?: Text; add_time__gte?: Text; add_time__lt?: Text; add_time__lte?: Text; recording_storage_duration?: Text; recording_storage_duration__gt?: Text; recording_storage_duration__gte?: Text; recording_storage_duration__lt?: Text; recording_storage_duration__lte?: Text };
    reply: { api_id: string; meta: { limit: number; offset: number; total_count: number; next: string | null; previous: string | null }; objects: readonly { api_id?: string; recording_id: string; call_uuid: string | null; conference_name: string | null; conference_uuid: string | null; from_number: string; to_number: string; add_time: string; recording_duration_ms: string; recording_start_ms: string | null; recording_end_ms: string | null; recording_format: string; recording_type: string; recording_url: string; resource_uri: string; rounded_recording_duration: number; recording_storage_duration: number; recording_storage_rate: number; monthly_recording_storage_amount: number }[] };
  };
  /** Download the audio file, with credentials or a signed link */
  'GET /api/v1/Account/{auth_id}/Recording/{recording_id}.{format}': {
    path: { auth_id: string; recording_id: string; format: string };
    query?: { exp?: Text; sig?: Text };
    reply: FileReply;
  };
  /** Get a recording */
  'GET /api/v1/Account/{auth_id}/Recording/{recording_id}/': {
    path: { auth_id: string; recording_id: string };
    reply: { api_id?: string; recording_id: string; call_uuid: string | null; conference_name: string | null; conference_uuid: string | null; from_number: string; to_number: string; add_time: string; recording_duration_ms: string; recording_start_ms: string | null; recording_end_ms: string | null; recording_format: string; recording_type: string; recording_url: string; resource_uri: string; rounded_recording_duration: number; recording_storage_duration: number; recording_storage_rate: number; monthly_recording_storage_amount: number };
  };
  /** Delete a recording and its file */
  'DELETE /api/v1/Account/{auth_id}/Recording/{recording_id}/': {
    path: { auth_id: string; recording_id: string };
    reply: undefined;
  };
  /** Delete all recordings that match the filters, and their files. At least one filter is required */
  'DELETE /api/v1/Account/{auth_id}/Recording/BulkDelete/': {
    path: { auth_id: string };
    query?: { call_uuid?: Text; from_number?: Text; to_number?: Text; conference_name?: Text; conference_uuid?: Text; subaccount?: Text; mpc_name?: Text; mpc_uuid?: Text; add_time?: Text; add_time__gt?: Text; add_time__gte?: Text; add_time__lt?: Text; add_time__lte?: Text; recording_storage_duration?: Text; recording_storage_duration__gt?: Text; recording_storage_duration__gte?: Text; recording_storage_duration__lt?: Text; recording_storage_duration__lte?: Text; recording_format?: "mp3" | "wav" | undefined; recording_id?: Text };
    body?: { call_uuid?: string; from_number?: string; to_number?: string; conference_name?: string; conference_uuid?: string; subaccount?: string; mpc_name?: string; mpc_uuid?: string; add_time?: string; add_time__gt?: string; add_time__gte?: string; add_time__lt?: string; add_time__lte?: string; recording_storage_duration?: string; recording_storage_duration__gt?: string; recording_storage_duration__gte?: string; recording_storage_duration__lt?: string; recording_storage_duration__lte?: string; recording_format?: "mp3" | "wav"; recording_id?: string };
    reply: { api_id: string; message: string; deleted: number };
  };
  /** Get the transcription of a recording */
  'GET /api/v1/Account/{auth_id}/Transcription/{transcription_id}/': {
    path: { auth_id: string; transcription_id: string };
    reply: { api_id: string; transcription_id: string; transcription: string; status: string; error?: string; recording_id: string; call_uuid?: string; language: string; duration: number; transcription_charge: number; transcription_rate: number };
  };
  /** List the transcriptions of a recording, oldest first */
  'GET /api/v1/Account/{auth_id}/Recording/{recording_id}/transcriptions': {
    path: { auth_id: string; recording_id: string };
    reply: { api_id: string; objects: readonly { transcription_id: string; transcription: string; status: string; error?: string; recording_id: string; call_uuid?: string; language: string; duration: number; transcription_charge: number; transcription_rate: number }[] };
  };
  /** Queue a bulk export of recordings. Every recipient receives the link by mail */
  'POST /api/v1/Account/{auth_id}/export/recording/': {
    path: { auth_id: string };
    body: { recipient: { customer_account: readonly string[] }; from?: string; to?: string; recording_storage_duration?: string; recording_storage_duration__gte?: string; recording_storage_duration__gt?: string; recording_storage_duration__lte?: string; recording_storage_duration__lt?: string; from_number?: string; to_number?: string; call_uuid?: string; conference_name?: string; recording_format?: string; recording_id?: string };
    reply: { api_id: string; status: string };
  };
  /** List exports, newest first, with state, progress, and download link when done */
  'GET /api/v1/Account/{auth_id}/export/recording/': {
    path: { auth_id: string };
    query?: { limit?: Text; offset?: Text; state?: "queued" | "running" | "done" | "failed" | undefined };
    reply: { api_id: string; meta: { limit: number; offset: number; total_count: number; next: string | null; previous: string | null }; objects: readonly { export_id: string; state: string; progress: number; recordings: number; attempts: number; link: string | null; link_expires_at: string | null; error: string | null; recipient: { customer_account: readonly string[] }; from: string | null; to: string | null; created_at: string; updated_at: string }[] };
  };
  /** Download the archive of an export, with credentials or the mailed link */
  'GET /api/v1/Account/{auth_id}/export/recording/{export_id}.zip': {
    path: { auth_id: string; export_id: string };
    query?: { exp?: Text; sig?: Text };
    reply: FileReply;
  };
  /** Get an export */
  'GET /api/v1/Account/{auth_id}/export/recording/{export_id}/': {
    path: { auth_id: string; export_id: string };
    reply: { api_id: string; export_id: string; state: string; progress: number; recordings: number; attempts: number; link: string | null; link_expires_at: string | null; error: string | null; recipient: { customer_account: readonly string[] }; from: string | null; to: string | null; created_at: string; updated_at: string };
  };
  /** Download ledger entries as CSV or JSON lines, newest first */
  'GET /api/v1/Account/{auth_id}/transactions/export': {
    path: { auth_id: string };
    query?: { from_date?: Text; to_date?: Text; type?: Text; status?: "completed" | "pending" | "failed" | "cancelled" | undefined; currency?: Text; reference_type?: Text; description?: Text; format?: "csv" | "ndjson" | undefined };
    reply: FileReply;
  };
  /** Get calls, minutes and amounts by day or month, from records and ledger */
  'GET /api/v1/Account/{auth_id}/usage': {
    path: { auth_id: string };
    query?: { from_date?: Text; to_date?: Text; by?: "day" | "month" | undefined };
    reply: { account_id: string; usage: readonly { period: string; calls: number; answered: number; inbound: number; outbound: number; talk_seconds: number; billed_seconds: number; amounts: readonly { currency: string; source: string; count: number; charged: number; credited: number }[] }[] };
  };
  /** Get the invoice of a month, from the ledger. One currency, by default that of the account */
  'GET /api/v1/Account/{auth_id}/invoices/{month}': {
    path: { auth_id: string; month: string };
    query?: { currency?: Text };
    reply: { invoice_number: string; seller: readonly string[]; account_id: string; account_name: string; currency: string; period_start: string; period_end: string; preliminary: boolean; opening_balance: number; charges: readonly { source: string; description: string; count: number; amount: number }[]; total_charges: number; credits: readonly { source: string; description: string; count: number; amount: number }[]; total_credits: number; closing_balance: number };
  };
  /** Get the invoice of a month, from the ledger. One currency, by default that of the account; as PDF */
  'GET /api/v1/Account/{auth_id}/invoices/{month}/pdf': {
    path: { auth_id: string; month: string };
    query?: { currency?: Text };
    reply: FileReply;
  };
  /** Download ledger entries as CSV or JSON lines, newest first */
  'GET /admin/v1/accounts/{auth_id}/transactions/export': {
    path: { auth_id: string };
    query?: { from_date?: Text; to_date?: Text; type?: Text; status?: "completed" | "pending" | "failed" | "cancelled" | undefined; currency?: Text; reference_type?: Text; description?: Text; format?: "csv" | "ndjson" | undefined };
    reply: FileReply;
  };
  /** Download call records of an account as CSV or JSON lines, latest first */
  'GET /admin/v1/accounts/{auth_id}/cdr/export': {
    path: { auth_id: string };
    query?: { start_date?: Text; end_date?: Text; call_direction?: "inbound" | "outbound" | undefined; hangup_cause?: Text; campaign_id?: Text; format?: "csv" | "ndjson" | undefined };
    reply: FileReply;
  };
  /** Get calls, minutes and amounts by day or month, from records and ledger */
  'GET /admin/v1/accounts/{auth_id}/usage': {
    path: { auth_id: string };
    query?: { from_date?: Text; to_date?: Text; by?: "day" | "month" | undefined };
    reply: { account_id: string; usage: readonly { period: string; calls: number; answered: number; inbound: number; outbound: number; talk_seconds: number; billed_seconds: number; amounts: readonly { currency: string; source: string; count: number; charged: number; credited: number }[] }[] };
  };
  /** Get the invoice of a month, from the ledger. One currency, by default that of the account */
  'GET /admin/v1/accounts/{auth_id}/invoices/{month}': {
    path: { auth_id: string; month: string };
    query?: { currency?: Text };
    reply: { invoice_number: string; seller: readonly string[]; account_id: string; account_name: string; currency: string; period_start: string; period_end: string; preliminary: boolean; opening_balance: number; charges: readonly { source: string; description: string; count: number; amount: number }[]; total_charges: number; credits: readonly { source: string; description: string; count: number; amount: number }[]; total_credits: number; closing_balance: number };
  };
  /** Get the invoice of a month, from the ledger. One currency, by default that of the account; as PDF */
  'GET /admin/v1/accounts/{auth_id}/invoices/{month}/pdf': {
    path: { auth_id: string; month: string };
    query?: { currency?: Text };
    reply: FileReply;
  };
  /** Create an agent, which handles the answered calls of campaigns */
  'POST /api/v1/account/{auth_id}/campaign/agents': {
    path: { auth_id: string };
    body: { name: string; answer_url: string; answer_method?: "GET" | "POST"; hangup_url?: string; hangup_method?: "GET" | "POST"; ring_url?: string; ring_method?: "GET" | "POST"; fallback_url?: string; fallback_method?: "GET" | "POST"; sip_headers?: Readonly<Record<string, string>>; static_headers?: readonly { key: string; value: string }[]; machine_detection?: string; machine_detection_time?: number; machine_detection_url?: string; machine_detection_method?: "GET" | "POST"; machine_detection_maximum_speech_length?: number; machine_detection_initial_silence?: number; machine_detection_maximum_words?: number; machine_detection_initial_greeting?: number; record?: boolean; record_max_length?: number; record_file_format?: "mp3" | "wav"; record_channel_type?: "mono" | "stereo"; record_callback_url?: string; record_callback_method?: "GET" | "POST"; time_limit?: number; ring_timeout?: number };
    reply: { id: string; account_id: string; sub_account: string | null; name: string; answer_url: string; answer_method: string; hangup_url: string | null; hangup_method: string; ring_url: string | null; ring_method: string; fallback_url: string | null; fallback_method: string; sip_headers: Readonly<Record<string, string>>; static_headers: readonly { key: string; value: string }[]; machine_detection: string; machine_detection_url: string | null; record: boolean; time_limit: number; ring_timeout: number | null; created_at: string; updated_at: string };
  };
  /** List agents */
  'GET /api/v1/account/{auth_id}/campaign/agents': {
    path: { auth_id: string };
    query?: { limit?: Text; offset?: Text };
    reply: { objects: readonly { id: string; account_id: string; sub_account: string | null; name: string; answer_url: string; answer_method: string; hangup_url: string | null; hangup_method: string; ring_url: string | null; ring_method: string; fallback_url: string | null; fallback_method: string; sip_headers: Readonly<Record<string, string>>; static_headers: readonly { key: string; value: string }[]; machine_detection: string; machine_detection_url: string | null; record: boolean; time_limit: number; ring_timeout: number | null; created_at: string; updated_at: string }[]; total: number };
  };
  /** Get an agent */
  'GET /api/v1/account/{auth_id}/campaign/agents/{agent_id}': {
    path: { auth_id: string; agent_id: string };
    reply: { id: string; account_id: string; sub_account: string | null; name: string; answer_url: string; answer_method: string; hangup_url: string | null; hangup_method: string; ring_url: string | null; ring_method: string; fallback_url: string | null; fallback_method: string; sip_headers: Readonly<Record<string, string>>; static_headers: readonly { key: string; value: string }[]; machine_detection: string; machine_detection_url: string | null; record: boolean; time_limit: number; ring_timeout: number | null; created_at: string; updated_at: string };
  };
  /** Update an agent. Absent fields stay unchanged */
  'PUT /api/v1/account/{auth_id}/campaign/agents/{agent_id}': {
    path: { auth_id: string; agent_id: string };
    body?: { name?: string; answer_url?: string; answer_method?: "GET" | "POST"; hangup_url?: string; hangup_method?: "GET" | "POST"; ring_url?: string; ring_method?: "GET" | "POST"; fallback_url?: string; fallback_method?: "GET" | "POST"; sip_headers?: Readonly<Record<string, string>>; static_headers?: readonly { key: string; value: string }[]; machine_detection?: string; machine_detection_time?: number; machine_detection_url?: string; machine_detection_method?: "GET" | "POST"; machine_detection_maximum_speech_length?: number; machine_detection_initial_silence?: number; machine_detection_maximum_words?: number; machine_detection_initial_greeting?: number; record?: boolean; record_max_length?: number; record_file_format?: "mp3" | "wav"; record_channel_type?: "mono" | "stereo"; record_callback_url?: string; record_callback_method?: "GET" | "POST"; time_limit?: number; ring_timeout?: number };
    reply: { id: string; account_id: string; sub_account: string | null; name: string; answer_url: string; answer_method: string; hangup_url: string | null; hangup_method: string; ring_url: string | null; ring_method: string; fallback_url: string | null; fallback_method: string; sip_headers: Readonly<Record<string, string>>; static_headers: readonly { key: string; value: string }[]; machine_detection: string; machine_detection_url: string | null; record: boolean; time_limit: number; ring_timeout: number | null; created_at: string; updated_at: string };
  };
  /** Delete an agent. Refused while unfinished campaigns use it */
  'DELETE /api/v1/account/{auth_id}/campaign/agents/{agent_id}': {
    path: { auth_id: string; agent_id: string };
    reply: undefined;
  };
  /** Create a campaign. It is a draft until contacts are uploaded */
  'POST /api/v1/account/{auth_id}/campaigns': {
    path: { auth_id: string };
    body: { name: string; agent_id: string; max_concurrent: number; timezone: string; caller_id_strategy: "fixed" | "per_contact" | "pool"; fixed_caller_id?: string | null; cps?: number; scheduled_at?: string | null; expires_at?: string | null; window_enabled?: boolean; window_start_time?: string | null; window_end_time?: string | null; window_days?: readonly number[]; window_hours?: readonly { weekday: number; start_time: string; end_time: string }[]; holidays?: readonly string[]; contact_timezone?: "campaign" | "number"; retry_attempts?: number; retry_delays?: readonly number[]; retry_window_days?: number; retry_on?: readonly ("busy" | "no_answer" | "failed" | "machine")[]; notify_url?: string | null; pool_rotation_strategy?: "round_robin" | "least_used" | "random"; pool_max_calls_per_number?: number | null; pool_max_calls_per_day?: number | null; pool_cooldown_seconds?: number; max_abandoned_percent?: number | null };
    reply: { id: string; account_id: string; sub_account: string | null; name: string; agent_id: string; max_concurrent: number; cps: number; timezone: string; contact_timezone: string; caller_id_strategy: string; fixed_caller_id: string | null; scheduled_at: string | null; expires_at: string | null; window_enabled: boolean; window_start_time: string | null; window_end_time: string | null; window_days: readonly number[]; window_hours: readonly { weekday: number; start_time: string; end_time: string }[]; holidays: readonly string[]; retry_attempts: number; retry_delays: readonly number[]; retry_window_days: number; retry_on: readonly string[]; notify_url: string | null; pool_rotation_strategy: string; pool_max_calls_per_number: number | null; pool_max_calls_per_day: number | null; pool_cooldown_seconds: number; max_abandoned_percent: number | null; status: string; health: string; pause_reason: string | null; paused_reason: string | null; started_at: string | null; completed_at: string | null; last_dial_at: string | null; total_contacts: number; pending: number; dialling: number; answered: number; no_answer: number; busy: number; failed: number; retry_pending: number; expired: number; consecutive_failures: number; created_at: string; updated_at: string };
  };
  /** List campaigns, latest first */
  'GET /api/v1/account/{auth_id}/campaigns': {
    path: { auth_id: string };
    query?: { limit?: Text; offset?: Text; archived?: Text };
    reply: { objects: readonly { id: string; account_id: string; sub_account: string | null; name: string; agent_id: string; max_concurrent: number; cps: number; timezone: string; contact_timezone: string; caller_id_strategy: string; fixed_caller_id: string | null; scheduled_at: string | null; expires_at: string | null; window_enabled: boolean; window_start_time: string | null; window_end_time: string | null; window_days: readonly number[]; window_hours: readonly { weekday: number; start_time: string; end_time: string }[]; holidays: readonly string[]; retry_attempts: number; retry_delays: readonly number[]; retry_window_days: number; retry_on: readonly string[]; notify_url: string | null; pool_rotation_strategy: string; pool_max_calls_per_number: number | null; pool_max_calls_per_day: number | null; pool_cooldown_seconds: number; max_abandoned_percent: number | null; status: string; health: string; pause_reason: string | null; paused_reason: string | null; started_at: string | null; completed_at: string | null; last_dial_at: string | null; total_contacts: number; pending: number; dialling: number; answered: number; no_answer: number; busy: number; failed: number; retry_pending: number; expired: number; consecutive_failures: number; created_at: string; updated_at: string }[]; total: number };
  };
  /** Get the status, health, counters and pause reason of a campaign */
  'GET /api/v1/account/{auth_id}/campaigns/{campaign_id}': {
    path: { auth_id: string; campaign_id: string };
    reply: { id: string; account_id: string; sub_account: string | null; name: string; agent_id: string; max_concurrent: number; cps: number; timezone: string; contact_timezone: string; caller_id_strategy: string; fixed_caller_id: string | null; scheduled_at: string | null; expires_at: string | null; window_enabled: boolean; window_start_time: string | null; window_end_time: string | null; window_days: readonly number[]; window_hours: readonly { weekday: number; start_time: string; end_time: string }[]; holidays: readonly string[]; retry_attempts: number; retry_delays: readonly number[]; retry_window_days: number; retry_on: readonly string[]; notify_url: string | null; pool_rotation_strategy: string; pool_max_calls_per_number: number | null; pool_max_calls_per_day: number | null; pool_cooldown_seconds: number; max_abandoned_percent: number | null; status: string; health: string; pause_reason: string | null; paused_reason: string | null; started_at: string | null; completed_at: string | null; last_dial_at: string | null; total_contacts: number; pending: number; dialling: number; answered: number; no_answer: number; busy: number; failed: number; retry_pending: number; expired: number; consecutive_failures: number; created_at: string; updated_at: string };
  };
  /** Update a draft or ready campaign. Absent fields stay unchanged */
  'PUT /api/v1/account/{auth_id}/campaigns/{campaign_id}': {
    path: { auth_id: string; campaign_id: string };
    body?: { name?: string; agent_id?: string; max_concurrent?: number; timezone?: string; caller_id_strategy?: "fixed" | "per_contact" | "pool"; fixed_caller_id?: string | null; cps?: number; scheduled_at?: string | null; expires_at?: string | null; window_enabled?: boolean; window_start_time?: string | null; window_end_time?: string | null; window_days?: readonly number[]; window_hours?: readonly { weekday: number; start_time: string; end_time: string }[]; holidays?: readonly string[]; contact_timezone?: "campaign" | "number"; retry_attempts?: number; retry_delays?: readonly number[]; retry_window_days?: number; retry_on?: readonly ("busy" | "no_answer" | "failed" | "machine")[]; notify_url?: string | null; pool_rotation_strategy?: "round_robin" | "least_used" | "random"; pool_max_calls_per_number?: number | null; pool_max_calls_per_day?: number | null; pool_cooldown_seconds?: number; max_abandoned_percent?: number | null; clear_schedule?: boolean };
    reply: { id: string; account_id: string; sub_account: string | null; name: string; agent_id: string; max_concurrent: number; cps: number; timezone: string; contact_timezone: string; caller_id_strategy: string; fixed_caller_id: string | null; scheduled_at: string | null; expires_at: string | null; window_enabled: boolean; window_start_time: string | null; window_end_time: string | null; window_days: readonly number[]; window_hours: readonly { weekday: number; start_time: string; end_time: string }[]; holidays: readonly string[]; retry_attempts: number; retry_delays: readonly number[]; retry_window_days: number; retry_on: readonly string[]; notify_url: string | null; pool_rotation_strategy: string; pool_max_calls_per_number: number | null; pool_max_calls_per_day: number | null; pool_cooldown_seconds: number; max_abandoned_percent: number | null; status: string; health: string; pause_reason: string | null; paused_reason: string | null; started_at: string | null; completed_at: string | null; last_dial_at: string | null; total_contacts: number; pending: number; dialling: number; answered: number; no_answer: number; busy: number; failed: number; retry_pending: number; expired: number; consecutive_failures: number; created_at: string; updated_at: string };
  };
  /** Schedule the start of a draft or ready campaign; null removes the schedule */
  'POST /api/v1/account/{auth_id}/campaigns/{campaign_id}/schedule': {
    path: { auth_id: string; campaign_id: string };
    body: { scheduled_at: string | null };
    reply: { id: string; account_id: string; sub_account: string | null; name: string; agent_id: string; max_concurrent: number; cps: number; timezone: string; contact_timezone: string; caller_id_strategy: string; fixed_caller_id: string | null; scheduled_at: string | null; expires_at: string | null; window_enabled: boolean; window_start_time: string | null; window_end_time: string | null; window_days: readonly number[]; window_hours: readonly { weekday: number; start_time: string; end_time: string }[]; holidays: readonly string[]; retry_attempts: number; retry_delays: readonly number[]; retry_window_days: number; retry_on: readonly string[]; notify_url: string | null; pool_rotation_strategy: string; pool_max_calls_per_number: number | null; pool_max_calls_per_day: number | null; pool_cooldown_seconds: number; max_abandoned_percent: number | null; status: string; health: string; pause_reason: string | null; paused_reason: string | null; started_at: string | null; completed_at: string | null; last_dial_at: string | null; total_contacts: number; pending: number; dialling: number; answered: number; no_answer: number; busy: number; failed: number; retry_pending: number; expired: number; consecutive_failures: number; created_at: string; updated_at: string };
  };
  /** Copy the plan and pool of a campaign to a new draft, without contacts and schedule */
  'POST /api/v1/account/{auth_id}/campaigns/{campaign_id}/clone': {
    path: { auth_id: string; campaign_id: string };
    body?: { name?: string };
    reply: { id: string; account_id: string; sub_account: string | null; name: string; agent_id: string; max_concurrent: number; cps: number; timezone: string; contact_timezone: string; caller_id_strategy: string; fixed_caller_id: string | null; scheduled_at: string | null; expires_at: string | null; window_enabled: boolean; window_start_time: string | null; window_end_time: string | null; window_days: readonly number[]; window_hours: readonly { weekday: number; start_time: string; end_time: string }[]; holidays: readonly string[]; retry_attempts: number; retry_delays: readonly number[]; retry_window_days: number; retry_on: readonly string[]; notify_url: string | null; pool_rotation_strategy: string; pool_max_calls_per_number: number | null; pool_max_calls_per_day: number | null; pool_cooldown_seconds: number; max_abandoned_percent: number | null; status: string; health: string; pause_reason: string | null; paused_reason: string | null; started_at: string | null; completed_at: string | null; last_dial_at: string | null; total_contacts: number; pending: number; dialling: number; answered: number; no_answer: number; busy: number; failed: number; retry_pending: number; expired: number; consecutive_failures: number; created_at: string; updated_at: string };
  };
  /** Start a ready campaign */
  'POST /api/v1/account/{auth_id}/campaigns/{campaign_id}/start': {
    path: { auth_id: string; campaign_id: string };
    reply: { id: string; account_id: string; sub_account: string | null; name: string; agent_id: string; max_concurrent: number; cps: number; timezone: string; contact_timezone: string; caller_id_strategy: string; fixed_caller_id: string | null; scheduled_at: string | null; expires_at: string | null; window_enabled: boolean; window_start_time: string | null; window_end_time: string | null; window_days: readonly number[]; window_hours: readonly { weekday: number; start_time: string; end_time: string }[]; holidays: readonly string[]; retry_attempts: number; retry_delays: readonly number[]; retry_window_days: number; retry_on: readonly string[]; notify_url: string | null; pool_rotation_strategy: string; pool_max_calls_per_number: number | null; pool_max_calls_per_day: number | null; pool_cooldown_seconds: number; max_abandoned_percent: number | null; status: string; health: string; pause_reason: string | null; paused_reason: string | null; started_at: string | null; completed_at: string | null; last_dial_at: string | null; total_contacts: number; pending: number; dialling: number; answered: number; no_answer: number; busy: number; failed: number; retry_pending: number; expired: number; consecutive_failures: number; created_at: string; updated_at: string };
  };
  /** Pause a campaign. Running calls continue */
  'POST /api/v1/account/{auth_id}/campaigns/{campaign_id}/pause': {
    path: { auth_id: string; campaign_id: string };
    reply: { id: string; account_id: string; sub_account: string | null; name: string; agent_id: string; max_concurrent: number; cps: number; timezone: string; contact_timezone: string; caller_id_strategy: string; fixed_caller_id: string | null; scheduled_at: string | null; expires_at: string | null; window_enabled: boolean; window_start_time: string | null; window_end_time: string | null; window_days: readonly number[]; window_hours: readonly { weekday: number; start_time: string; end_time: string }[]; holidays: readonly string[]; retry_attempts: number; retry_delays: readonly number[]; retry_window_days: number; retry_on: readonly string[]; notify_url: string | null; pool_rotation_strategy: string; pool_max_calls_per_number: number | null; pool_max_calls_per_day: number | null; pool_cooldown_seconds: number; max_abandoned_percent: number | null; status: string; health: string; pause_reason: string | null; paused_reason: string | null; started_at: string | null; completed_at: string | null; last_dial_at: string | null; total_contacts: number; pending: number; dialling: number; answered: number; no_answer: number; busy: number; failed: number; retry_pending: number; expired: number; consecutive_failures: number; created_at: string; updated_at: string };
  };
  /** Resume a paused campaign. Refused while the cause of the pause exists */
  'POST /api/v1/account/{auth_id}/campaigns/{campaign_id}/resume': {
    path: { auth_id: string; campaign_id: string };
    reply: { id: string; account_id: string; sub_account: string | null; name: string; agent_id: string; max_concurrent: number; cps: number; timezone: string; contact_timezone: string; caller_id_strategy: string; fixed_caller_id: string | null; scheduled_at: string | null; expires_at: string | null; window_enabled: boolean; window_start_time: string | null; window_end_time: string | null; window_days: readonly number[]; window_hours: readonly { weekday: number; start_time: string; end_time: string }[]; holidays: readonly string[]; retry_attempts: number; retry_delays: readonly number[]; retry_window_days: number; retry_on: readonly string[]; notify_url: string | null; pool_rotation_strategy: string; pool_max_calls_per_number: number | null; pool_max_calls_per_day: number | null; pool_cooldown_seconds: number; max_abandoned_percent: number | null; status: string; health: string; pause_reason: string | null; paused_reason: string | null; started_at: string | null; completed_at: string | null; last_dial_at: string | null; total_contacts: number; pending: number; dialling: number; answered: number; no_answer: number; busy: number; failed: number; retry_pending: number; expired: number; consecutive_failures: number; created_at: string; updated_at: string };
  };
  /** End a running or paused campaign permanently */
  'POST /api/v1/account/{auth_id}/campaigns/{campaign_id}/cancel': {
    path: { auth_id: string; campaign_id: string };
    reply: { id: string; account_id: string; sub_account: string | null; name: string; agent_id: string; max_concurrent: number; cps: number; timezone: string; contact_timezone: string; caller_id_strategy: string; fixed_caller_id: string | null; scheduled_at: string | null; expires_at: string | null; window_enabled: boolean; window_start_time: string | null; window_end_time: string | null; window_days: readonly number[]; window_hours: readonly { weekday: number; start_time: string; end_time: string }[]; holidays: readonly string[]; retry_attempts: number; retry_delays: readonly number[]; retry_window_days: number; retry_on: readonly string[]; notify_url: string | null; pool_rotation_strategy: string; pool_max_calls_per_number: number | null; pool_max_calls_per_day: number | null; pool_cooldown_seconds: number; max_abandoned_percent: number | null; status: string; health: string; pause_reason: string | null; paused_reason: string | null; started_at: string | null; completed_at: string | null; last_dial_at: string | null; total_contacts: number; pending: number; dialling: number; answered: number; no_answer: number; busy: number; failed: number; retry_pending: number; expired: number; consecutive_failures: number; created_at: string; updated_at: string };
  };
  /** Archive a campaign that is not running. Its results stay readable */
  'POST /api/v1/account/{auth_id}/campaigns/{campaign_id}/archive': {
    path: { auth_id: string; campaign_id: string };
    reply: { id: string; account_id: string; sub_account: string | null; name: string; agent_id: string; max_concurrent: number; cps: number; timezone: string; contact_timezone: string; caller_id_strategy: string; fixed_caller_id: string | null; scheduled_at: string | null; expires_at: string | null; window_enabled: boolean; window_start_time: string | null; window_end_time: string | null; window_days: readonly number[]; window_hours: readonly { weekday: number; start_time: string; end_time: string }[]; holidays: readonly string[]; retry_attempts: number; retry_delays: readonly number[]; retry_window_days: number; retry_on: readonly string[]; notify_url: string | null; pool_rotation_strategy: string; pool_max_calls_per_number: number | null; pool_max_calls_per_day: number | null; pool_cooldown_seconds: number; max_abandoned_percent: number | null; status: string; health: string; pause_reason: string | null; paused_reason: string | null; started_at: string | null; completed_at: string | null; last_dial_at: string | null; total_contacts: number; pending: number; dialling: number; answered: number; no_answer: number; busy: number; failed: number; retry_pending: number; expired: number; consecutive_failures: number; created_at: string; updated_at: string };
  };
  /** Upload contacts as CSV (form field file, or text/csv) or as JSON rows. Columns: to, from, answer_url, hangup_url; others are SIP headers. Replaces the previous list. */
  'POST /api/v1/account/{auth_id}/campaigns/{campaign_id}/upload': {
    path: { auth_id: string; campaign_id: string };
    upload: true;
    reply: { valid_contacts: number; invalid_rows: number; total_rows: number; custom_headers_detected: readonly string[]; errors: readonly { row_number: number; reason: string }[] };
  };
  /** Download the rejected rows of the list with row number and reason, as CSV */
  'GET /api/v1/account/{auth_id}/campaigns/{campaign_id}/upload/errors': {
    path: { auth_id: string; campaign_id: string };
    reply: FileReply;
  };
  /** List the contacts and their statuses, in the order of the list */
  'GET /api/v1/account/{auth_id}/campaigns/{campaign_id}/contacts': {
    path: { auth_id: string; campaign_id: string };
    query?: { limit?: Text; offset?: Text; status?: "pending" | "dialling" | "answered" | "no_answer" | "busy" | "failed" | "retry_pending" | "expired" | undefined; search?: Text };
    reply: { objects: readonly { id: number; row_number: number; to_number: string; from_number: string | null; answer_url: string | null; hangup_url: string | null; sip_headers: Readonly<Record<string, string>>; timezone: string | null; status: string; reason: string | null; attempts: number; next_attempt_at: string | null; first_dial_at: string | null; call_uuid: string | null }[]; total: number };
  };
  /** List all attempts, latest first, including those without a call record */
  'GET /api/v1/account/{auth_id}/campaigns/{campaign_id}/calls': {
    path: { auth_id: string; campaign_id: string };
    query?: { page?: Text; per_page?: Text };
    reply: { objects: readonly { call_uuid: string; campaign_id: string; contact_id: number; row_number: number; attempt_number: number; to_number: string; from_number: string | null; status: string; placed_at: string; answered_at: string | null; ended_at: string | null; duration: number; hangup_cause: string | null; hangup_cause_code: number | null; machine: boolean | null }[]; total: number; page: number; per_page: number; total_pages: number };
  };
  /** Download the current or final result of every contact, as CSV */
  'GET /api/v1/account/{auth_id}/campaigns/{campaign_id}/results': {
    path: { auth_id: string; campaign_id: string };
    reply: FileReply;
  };
  /** Get the campaign and contact of a call */
  'GET /api/v1/account/{auth_id}/campaigns/{campaign_id}/call-lookup/{call_uuid}': {
    path: { auth_id: string; campaign_id: string; call_uuid: string };
    reply: { call_uuid: string; campaign_id: string; contact_id: number; row_number: number; attempt_number: number; to_number: string; from_number: string | null; status: string; placed_at: string; answered_at: string | null; ended_at: string | null; duration: number; hangup_cause: string | null; hangup_cause_code: number | null; machine: boolean | null };
  };
  /** Get the campaign and contact of a call, for any campaign */
  'GET /api/v1/account/{auth_id}/call-lookup/{call_uuid}': {
    path: { auth_id: string; call_uuid: string };
    reply: { call_uuid: string; campaign_id: string; contact_id: number; row_number: number; attempt_number: number; to_number: string; from_number: string | null; status: string; placed_at: string; answered_at: string | null; ended_at: string | null; duration: number; hangup_cause: string | null; hangup_cause_code: number | null; machine: boolean | null };
  };
  /** Add caller numbers to the pool of a campaign */
  'POST /api/v1/account/{auth_id}/campaigns/{campaign_id}/pool': {
    path: { auth_id: string; campaign_id: string };
    body: { numbers: readonly { from_number: string; label?: string }[] };
    reply: { added: readonly { id: string; from_number: string; label: string; total_calls: number; last_used_at: string | null }[] };
  };
  /** List the numbers of the pool and how often each was used */
  'GET /api/v1/account/{auth_id}/campaigns/{campaign_id}/pool': {
    path: { auth_id: string; campaign_id: string };
    reply: { objects: readonly { id: string; from_number: string; label: string; total_calls: number; last_used_at: string | null }[]; total: number };
  };
  /** Update a number of the pool. Absent fields stay unchanged; a new number resets the counts */
  'PUT /api/v1/account/{auth_id}/campaigns/{campaign_id}/pool/{number_id}': {
    path: { auth_id: string; campaign_id: string; number_id: string };
    body?: { from_number?: string; label?: string };
    reply: { id: string; from_number: string; label: string; total_calls: number; last_used_at: string | null };
  };
  /** Remove a number from the pool */
  'DELETE /api/v1/account/{auth_id}/campaigns/{campaign_id}/pool/{number_id}': {
    path: { auth_id: string; campaign_id: string; number_id: string };
    reply: undefined;
  };
  /** Add numbers that campaigns of the account must not call, starting with the next call */
  'POST /api/v1/account/{auth_id}/do-not-call': {
    path: { auth_id: string };
    body: { numbers: readonly string[] };
    reply: { added: number };
  };
  /** List the numbers that campaigns of the account must not call, in ascending order */
  'GET /api/v1/account/{auth_id}/do-not-call': {
    path: { auth_id: string };
    query?: { limit?: Text; offset?: Text; search?: Text };
    reply: { objects: readonly { number: string; added_at: string }[]; total: number };
  };
  /** Remove a number from the do-not-call list */
  'DELETE /api/v1/account/{auth_id}/do-not-call/{number}': {
    path: { auth_id: string; number: string };
    reply: undefined;
  };
  /** Transfer capacity from the partner to a customer */
  'POST /api/v1/partner/accounts/{customer_auth_id}/concurrency/transfer': {
    path: { customer_auth_id: string };
    body: { resource?: "concurrent_calls" | "cps"; slots: number; description?: string };
    reply: { success: boolean; slots: number; resource: string; from_account: string; to_account: string; transfer_reference: string; partner_remaining: number; customer_effective: number; message: string };
  };
  /** Reclaim capacity from a customer */
  'POST /api/v1/partner/accounts/{customer_auth_id}/concurrency/reclaim': {
    path: { customer_auth_id: string };
    body: { resource?: "concurrent_calls" | "cps"; slots: number; description?: string };
    reply: { success: boolean; slots: number; resource: string; from_account: string; to_account: string; transfer_reference: string; partner_remaining: number; customer_effective: number; message: string };
  };
  /** Get the allocation to a customer and the limits of both accounts */
  'GET /api/v1/partner/accounts/{customer_auth_id}/concurrency': {
    path: { customer_auth_id: string };
    reply: { partner_auth_id: string; customer_auth_id: string; partner_concurrent_calls_limit: number; customer_concurrent_calls_limit: number; net_concurrent_calls_allocated: number; partner_cps_limit: number; customer_cps_limit: number; net_cps_allocated: number };
  };
  /** List transfers and reclaims, newest first */
  'GET /api/v1/partner/concurrency/transfers': {
    query?: { limit?: Text; offset?: Text };
    reply: { transfers: readonly { transfer_reference: string; operation: string; resource: string; slots: number; from_account: string; to_account: string; description: string; partner_remaining: number; customer_effective: number; created_at: string }[]; total: number; limit: number; offset: number };
  };
  /** Create a sub-account. Only this response shows its token */
  'POST /api/v1/accounts/{auth_id}/sub-accounts/': {
    path: { auth_id: string };
    body: { name: string; email?: string; phone?: string; description?: string; enabled?: boolean; permissions?: { calls?: boolean; cdr?: boolean; recordings?: boolean; applications?: boolean; endpoints?: boolean; balance?: boolean; numbers?: boolean; trunks?: boolean; conferences?: boolean; campaigns?: boolean; refer?: boolean }; rate_limit?: number | null };
    reply: { message: string; sub_account: { id: string; auth_id: string; parent_account_id: string; parent_auth_id: string; name: string; email: string; phone: string; description: string; permissions: Readonly<Record<string, boolean>>; rate_limit: number; enabled: boolean; is_active: boolean; email_verified: boolean; account: string; resource_uri: string; created: string; modified: string; created_at: string; updated_at: string; auth_token: string }; auth_credentials: { auth_id: string; auth_token: string }; tokens: { access_token: string; token_type: string; expires_in: number } };
  };
  /** List sub-accounts */
  'GET /api/v1/accounts/{auth_id}/sub-accounts/': {
    path: { auth_id: string };
    query?: { page?: Text; size?: Text };
    reply: { sub_accounts: readonly { id: string; auth_id: string; parent_account_id: string; parent_auth_id: string; name: string; email: string; phone: string; description: string; permissions: Readonly<Record<string, boolean>>; rate_limit: number; enabled: boolean; is_active: boolean; email_verified: boolean; account: string; resource_uri: string; created: string; modified: string; created_at: string; updated_at: string }[]; total: number; page: number; size: number };
  };
  /** Get a sub-account */
  'GET /api/v1/accounts/{auth_id}/sub-accounts/{sub_auth_id}': {
    path: { auth_id: string; sub_auth_id: string };
    reply: { id: string; auth_id: string; parent_account_id: string; parent_auth_id: string; name: string; email: string; phone: string; description: string; permissions: Readonly<Record<string, boolean>>; rate_limit: number; enabled: boolean; is_active: boolean; email_verified: boolean; account: string; resource_uri: string; created: string; modified: string; created_at: string; updated_at: string };
  };
  /** Update a sub-account */
  'PUT /api/v1/accounts/{auth_id}/sub-accounts/{sub_auth_id}': {
    path: { auth_id: string; sub_auth_id: string };
    body?: { name?: string; email?: string; phone?: string; description?: string; enabled?: boolean; permissions?: { calls?: boolean; cdr?: boolean; recordings?: boolean; applications?: boolean; endpoints?: boolean; balance?: boolean; numbers?: boolean; trunks?: boolean; conferences?: boolean; campaigns?: boolean; refer?: boolean }; rate_limit?: number | null };
    reply: { id: string; auth_id: string; parent_account_id: string; parent_auth_id: string; name: string; email: string; phone: string; description: string; permissions: Readonly<Record<string, boolean>>; rate_limit: number; enabled: boolean; is_active: boolean; email_verified: boolean; account: string; resource_uri: string; created: string; modified: string; created_at: string; updated_at: string };
  };
  /** Delete a sub-account */
  'DELETE /api/v1/accounts/{auth_id}/sub-accounts/{sub_auth_id}': {
    path: { auth_id: string; sub_auth_id: string };
    reply: { message: string };
  };
  /** Create a sub-account (Plivo form) */
  'POST /api/v1/Account/{auth_id}/Subaccount/': {
    path: { auth_id: string };
    body: { name: string; email?: string; phone?: string; description?: string; enabled?: boolean; permissions?: { calls?: boolean; cdr?: boolean; recordings?: boolean; applications?: boolean; endpoints?: boolean; balance?: boolean; numbers?: boolean; trunks?: boolean; conferences?: boolean; campaigns?: boolean; refer?: boolean }; rate_limit?: number | null };
    reply: { api_id: string; auth_id: string; auth_token: string; message: string };
  };
  /** List sub-accounts (Plivo form) */
  'GET /api/v1/Account/{auth_id}/Subaccount/': {
    path: { auth_id: string };
    query?: { limit?: Text; offset?: Text };
    reply: { api_id: string; meta: { limit: number; offset: number; total_count: number; next: string | null; previous: string | null }; objects: readonly { api_id?: string; account: string; auth_id: string; auth_token: string; created: string; modified: string; enabled: boolean; name: string; resource_uri: string }[] };
  };
  /** Get a sub-account (Plivo form) */
  'GET /api/v1/Account/{auth_id}/Subaccount/{sub_auth_id}/': {
    path: { auth_id: string; sub_auth_id: string };
    reply: { api_id?: string; account: string; auth_id: string; auth_token: string; created: string; modified: string; enabled: boolean; name: string; resource_uri: string };
  };
  /** Update a sub-account (Plivo form) */
  'POST /api/v1/Account/{auth_id}/Subaccount/{sub_auth_id}/': {
    path: { auth_id: string; sub_auth_id: string };
    body?: { name?: string; email?: string; phone?: string; description?: string; enabled?: boolean; permissions?: { calls?: boolean; cdr?: boolean; recordings?: boolean; applications?: boolean; endpoints?: boolean; balance?: boolean; numbers?: boolean; trunks?: boolean; conferences?: boolean; campaigns?: boolean; refer?: boolean }; rate_limit?: number | null };
    reply: { api_id: string; message: string };
  };
  /** Delete a sub-account (Plivo form) */
  'DELETE /api/v1/Account/{auth_id}/Subaccount/{sub_auth_id}/': {
    path: { auth_id: string; sub_auth_id: string };
    reply: undefined;
  };
  /** Get Prometheus metrics, or OpenMetrics with exemplars if Accept requests it */
  'GET /metrics': {
    reply: FileReply;
  };
  /** Create an account. Only this response shows its token */
  'POST /admin/v1/accounts': {
    body: { name: string; currency?: string; concurrent_calls_limit?: number; cps_limit?: number; country?: string; timezone?: string; credit_limit?: number; credit_limit_type?: "soft" | "hard"; is_postpaid?: boolean; low_balance_threshold?: number; low_balance_url?: string | null; low_balance_email?: string | null; status?: "active" | "suspended" | "closed"; is_partner?: boolean; partner_auth_id?: string | null; limit_transfer_enabled?: boolean; barred_prefixes?: readonly string[]; barred_countries?: readonly string[]; daily_spend_limit?: number | null; default_endpoint_app?: number | null; default_caller_id?: string | null; email?: string; phone?: string; description?: string; cdr_retention_days?: number | null; recording_retention_days?: number | null };
    reply: { auth_token: string; auth_id: string; name: string; parent_auth_id: string | null; status: string; currency: string; country: string; timezone: string; concurrent_calls_limit: number; cps_limit: number; is_partner: boolean; partner_auth_id: string | null; limit_transfer_enabled: boolean; barred_prefixes: readonly string[]; barred_countries: readonly string[]; daily_spend_limit: number | null; default_endpoint_app: number | null; default_caller_id: string | null; low_balance_url: string | null; low_balance_email: string | null; email: string; phone: string; description: string; cdr_retention_days: number | null; recording_retention_days: number | null; created_at: string; updated_at: string; balances: readonly { id: string; account_id: string; currency: string; balance: number; reserved_funds: number; promotional_balance: number; promotional_reserved_balance: number; available_balance: number; credit_limit: number; is_postpaid: boolean; credit_limit_type: string; low_balance_threshold: number; status: string; created_at: string; updated_at: string }[] };
  };
  /** List main accounts, or the sub-accounts of one */
  'GET /admin/v1/accounts': {
    query?: { limit?: Text; offset?: Text; parent?: Text; search?: Text };
    reply: { meta: { limit: number; offset: number; total: number }; accounts: readonly { auth_id: string; name: string; parent_auth_id: string | null; status: string; currency: string; country: string; timezone: string; concurrent_calls_limit: number; cps_limit: number; is_partner: boolean; partner_auth_id: string | null; limit_transfer_enabled: boolean; barred_prefixes: readonly string[]; barred_countries: readonly string[]; daily_spend_limit: number | null; default_endpoint_app: number | null; default_caller_id: string | null; low_balance_url: string | null; low_balance_email: string | null; email: string; phone: string; description: string; cdr_retention_days: number | null; recording_retention_days: number | null; created_at: string; updated_at: string }[] };
  };
  /** Get an account with its balances */
  'GET /admin/v1/accounts/{auth_id}': {
    path: { auth_id: string };
    reply: { auth_id: string; name: string; parent_auth_id: string | null; status: string; currency: string; country: string; timezone: string; concurrent_calls_limit: number; cps_limit: number; is_partner: boolean; partner_auth_id: string | null; limit_transfer_enabled: boolean; barred_prefixes: readonly string[]; barred_countries: readonly string[]; daily_spend_limit: number | null; default_endpoint_app: number | null; default_caller_id: string | null; low_balance_url: string | null; low_balance_email: string | null; email: string; phone: string; description: string; cdr_retention_days: number | null; recording_retention_days: number | null; created_at: string; updated_at: string; balances: readonly { id: string; account_id: string; currency: string; balance: number; reserved_funds: number; promotional_balance: number; promotional_reserved_balance: number; available_balance: number; credit_limit: number; is_postpaid: boolean; credit_limit_type: string; low_balance_threshold: number; status: string; created_at: string; updated_at: string }[] };
  };
  /** Update an account. Absent fields stay unchanged, null clears */
  'PATCH /admin/v1/accounts/{auth_id}': {
    path: { auth_id: string };
    body?: { name?: string; concurrent_calls_limit?: number; cps_limit?: number; country?: string; timezone?: string; credit_limit?: number; credit_limit_type?: "soft" | "hard"; is_postpaid?: boolean; low_balance_threshold?: number; low_balance_url?: string | null; low_balance_email?: string | null; status?: "active" | "suspended" | "closed"; is_partner?: boolean; partner_auth_id?: string | null; limit_transfer_enabled?: boolean; barred_prefixes?: readonly string[]; barred_countries?: readonly string[]; daily_spend_limit?: number | null; default_endpoint_app?: number | null; default_caller_id?: string | null; email?: string; phone?: string; description?: string; cdr_retention_days?: number | null; recording_retention_days?: number | null };
    reply: { auth_id: string; name: string; parent_auth_id: string | null; status: string; currency: string; country: string; timezone: string; concurrent_calls_limit: number; cps_limit: number; is_partner: boolean; partner_auth_id: string | null; limit_transfer_enabled: boolean; barred_prefixes: readonly string[]; barred_countries: readonly string[]; daily_spend_limit: number | null; default_endpoint_app: number | null; default_caller_id: string | null; low_balance_url: string | null; low_balance_email: string | null; email: string; phone: string; description: string; cdr_retention_days: number | null; recording_retention_days: number | null; created_at: string; updated_at: string; balances: readonly { id: string; account_id: string; currency: string; balance: number; reserved_funds: number; promotional_balance: number; promotional_reserved_balance: number; available_balance: number; credit_limit: number; is_postpaid: boolean; credit_limit_type: string; low_balance_threshold: number; status: string; created_at: string; updated_at: string }[] };
  };
  /** Add a balance in another currency */
  'POST /admin/v1/accounts/{auth_id}/balances': {
    path: { auth_id: string };
    body: { currency: string };
    reply: { id: string; account_id: string; currency: string; balance: number; reserved_funds: number; promotional_balance: number; promotional_reserved_balance: number; available_balance: number; credit_limit: number; is_postpaid: boolean; credit_limit_type: string; low_balance_threshold: number; status: string; created_at: string; updated_at: string };
  };
  /** Update the credit terms and alert threshold of a balance */
  'PATCH /admin/v1/accounts/{auth_id}/balances/{currency}': {
    path: { auth_id: string; currency: string };
    body?: { credit_limit?: number; credit_limit_type?: "soft" | "hard"; is_postpaid?: boolean; low_balance_threshold?: number };
    reply: { id: string; account_id: string; currency: string; balance: number; reserved_funds: number; promotional_balance: number; promotional_reserved_balance: number; available_balance: number; credit_limit: number; is_postpaid: boolean; credit_limit_type: string; low_balance_threshold: number; status: string; created_at: string; updated_at: string };
  };
  /** Credit an account, or debit it with a negative amount */
  'POST /admin/v1/accounts/{auth_id}/credit': {
    path: { auth_id: string };
    body: { amount: number; currency: string; description: string; reference_type?: string; promotional?: boolean; key?: string };
    reply: { transaction: { id: string; account_id: string; balance_id: string; type: string; amount: number; currency: string; description: string; reference?: string; reference_type: string; status: string; processed_at: string; created_at: string; updated_at: string }; balance: { id: string; account_id: string; currency: string; balance: number; reserved_funds: number; promotional_balance: number; promotional_reserved_balance: number; available_balance: number; credit_limit: number; is_postpaid: boolean; credit_limit_type: string; low_balance_threshold: number; status: string; created_at: string; updated_at: string } };
  };
  /** Create a new token. The old one stays valid for the overlap */
  'POST /admin/v1/accounts/{auth_id}/token': {
    path: { auth_id: string };
    body?: { overlap_seconds?: number };
    reply: { auth_id: string; auth_token: string; overlap_seconds: number };
  };
  /** Add a verified caller ID to the account */
  'POST /admin/v1/accounts/{auth_id}/caller-ids': {
    path: { auth_id: string };
    body: { number: string };
    reply: { number: string };
  };
  /** List verified caller IDs */
  'GET /admin/v1/accounts/{auth_id}/caller-ids': {
    path: { auth_id: string };
    reply: { caller_ids: readonly { number: string }[] };
  };
  /** Delete a verified caller ID */
  'DELETE /admin/v1/accounts/{auth_id}/caller-ids/{number}': {
    path: { auth_id: string; number: string };
    reply: undefined;
  };
  /** List the ledger entries of an account, newest first, with totals of the whole filtered set */
  'GET /admin/v1/accounts/{auth_id}/transactions': {
    path: { auth_id: string };
    query?: { page?: Text; per_page?: Text; from_date?: Text; to_date?: Text; type?: Text; status?: Text; currency?: Text; reference_type?: Text; reference?: Text; description?: Text };
    reply: { transactions: readonly { id: string; account_id: string; balance_id: string; type: string; amount: number; currency: string; description: string; reference?: string; reference_type: string; status: string; processed_at: string; created_at: string; updated_at: string }[]; summary: { total_transactions: number; total_debit: number; total_credit: number; net_amount: number; by_reference_type: readonly { reference_type: string; total_debit: number; total_credit: number; count: number }[] }; total: number; page: number; per_page: number; total_pages: number };
  };
  /** Add a number to the inventory, or assign it to an account */
  'POST /admin/v1/numbers': {
    body: { e164: string; country: string; region?: string; setup_fee?: number; monthly_fee?: number; currency: string; carrier?: string; account_id?: string };
    reply: { id: string; account_id: string | null; sub_account_id: string | null; e164: string; country: string; region: string; capabilities: { voice: boolean; sms: boolean; mms: boolean; fax: boolean }; status: string; provider: string | null; setup_fee: number; monthly_fee: number; currency: string; application_id: number | null; trunk_group_id: string | null; voice_enabled: boolean; tags: readonly string[]; purchased_at: string | null; released_at: string | null; is_blocked: boolean; is_trial_number: boolean; last_billing_date: string | null; next_billing_date: string | null; cooldown_ends_at: string | null; suspended_at: string | null; alias: string | null; minimum_commitment_months: number; aadhaar_verification_required: boolean; aadhaar_verified: boolean; source: string; created_at: string; updated_at: string };
  };
  /** List all numbers of the service */
  'GET /admin/v1/numbers': {
    query?: { limit?: Text; offset?: Text; account_id?: Text; status?: "available" | "active" | "suspended" | "pending_release" | "released" | "blocked" | undefined; country?: Text; search?: Text };
    reply: { meta: { limit: number; offset: number; total: number }; numbers: readonly { id: string; account_id: string | null; sub_account_id: string | null; e164: string; country: string; region: string; capabilities: { voice: boolean; sms: boolean; mms: boolean; fax: boolean }; status: string; provider: string | null; setup_fee: number; monthly_fee: number; currency: string; application_id: number | null; trunk_group_id: string | null; voice_enabled: boolean; tags: readonly string[]; purchased_at: string | null; released_at: string | null; is_blocked: boolean; is_trial_number: boolean; last_billing_date: string | null; next_billing_date: string | null; cooldown_ends_at: string | null; suspended_at: string | null; alias: string | null; minimum_commitment_months: number; aadhaar_verification_required: boolean; aadhaar_verified: boolean; source: string; created_at: string; updated_at: string }[] };
  };
  /** Remove a free number from the inventory */
  'DELETE /admin/v1/numbers/{e164}': {
    path: { e164: string };
    reply: undefined;
  };
  /** Get the header and identity policy of a trunk */
  'GET /admin/v1/accounts/{auth_id}/trunks/{trunk_id}': {
    path: { auth_id: string; trunk_id: string };
    reply: { trunk_id: string; egress_allow: readonly string[]; identity: "trusted" | "untrusted" | null; identity_header: "pai" | "rpid" | "both" | null; pass_headers: readonly string[] | null; add_headers: Readonly<Record<string, string>>; remove_headers: readonly string[]; large_over_tcp: boolean; delayed_offer: boolean; refer: boolean };
  };
  /** Set the header and identity policy of a trunk, and the private networks that its origination URIs may use */
  'PATCH /admin/v1/accounts/{auth_id}/trunks/{trunk_id}': {
    path: { auth_id: string; trunk_id: string };
    body?: { egress_allow?: readonly string[]; identity?: "trusted" | "untrusted" | null; identity_header?: "pai" | "rpid" | "both" | null; pass_headers?: readonly string[] | null; add_headers?: Readonly<Record<string, string>> | null; remove_headers?: readonly string[] | null; large_over_tcp?: boolean; delayed_offer?: boolean; refer?: boolean };
    reply: { trunk_id: string; egress_allow: readonly string[]; identity: "trusted" | "untrusted" | null; identity_header: "pai" | "rpid" | "both" | null; pass_headers: readonly string[] | null; add_headers: Readonly<Record<string, string>>; remove_headers: readonly string[]; large_over_tcp: boolean; delayed_offer: boolean; refer: boolean };
  };
  /** List the media policies: codecs and SRTP of accounts, endpoints, trunks and carriers that override the settings */
  'GET /admin/v1/media-policies': {
    reply: { policies: readonly { subject: string; name: string; srtp?: string; codecs?: readonly string[] }[] };
  };
  /** Set the codecs (in order of preference) and SRTP of an account, endpoint, trunk or carrier, starting with its next call. Absent fields use the settings */
  'PUT /admin/v1/media-policies/{subject}/{name}': {
    path: { subject: string; name: string };
    body?: { srtp?: "off" | "optional" | "required"; codecs?: readonly ("OPUS" | "G722" | "PCMU" | "PCMA" | "L16" | "CN")[] };
    reply: { subject: string; name: string; srtp?: string; codecs?: readonly string[] };
  };
  /** Delete a media policy, so that the settings apply again */
  'DELETE /admin/v1/media-policies/{subject}/{name}': {
    path: { subject: string; name: string };
    reply: undefined;
  };
  /** List database rows that could not be read and are skipped, latest first */
  'GET /admin/v1/unreadable-rows': {
    query?: { limit?: Text; offset?: Text };
    reply: { total: number; rows: readonly { table: string; key: string; reason: string; original: string; found: string }[] };
  };
  /** Remove a row from the list. The row itself stays in its table, except for an open call: it is removed and its reservations are released */
  'DELETE /admin/v1/unreadable-rows/{table}/{key}': {
    path: { table: string; key: string };
    reply: undefined;
  };
  /** Count the records that contain a telephone number, in all accounts */
  'GET /admin/v1/personal-data': {
    query: { number: Text; country?: Text };
    reply: { number: string; calls: number; recordings: number; contacts: number; mentions: number; transcriptions: number; running_calls: number; do_not_call_lists: number };
  };
  /** Erase a telephone number from all records: recordings, transcriptions, timelines and contacts. Times and amounts of calls remain */
  'DELETE /admin/v1/personal-data': {
    query: { number: Text; country?: Text };
    reply: { calls: number; recordings: number; contacts: number; mentions: number };
  };
  /** Export the records of a telephone number, one JSON object per line, with links to recordings */
  'GET /admin/v1/personal-data/export': {
    query: { number: Text; country?: Text };
    reply: FileReply;
  };
  /** Add a SIP gateway */
  'POST /admin/v1/carriers': {
    body: { name: string; host: string; identity?: "trusted" | "untrusted" | null; identity_header?: "pai" | "rpid" | "both" | null; pass_headers?: readonly string[] | null; add_headers?: Readonly<Record<string, string>> | null; remove_headers?: readonly string[] | null; large_over_tcp?: boolean; delayed_offer?: boolean; refer?: boolean; stir?: "off" | "verify" | "refuse" | "require" | null; sign?: boolean; port?: number | null; transport?: "udp" | "tcp" | "tls"; auth?: { username: string; password: string; register?: boolean } | null; source_addresses?: readonly string[]; prefixes?: readonly string[]; strip?: number; prepend?: string; cps_limit?: number; concurrent_calls_limit?: number; secure?: boolean; priority?: number; enabled?: boolean; first_response_ms?: number | null; answer_ms?: number | null; failover_on?: readonly string[] | null; max_redirects?: number | null; probe?: boolean; weight?: number | null; windows?: readonly string[] | null; costs?: Readonly<Record<string, number>> | null; rewrite?: readonly { match: string; replace: string }[] | null };
    reply: { name: string; host: string; port: number | null; transport: string; auth?: { username: string; password: string; register: boolean }; source_addresses: readonly string[]; prefixes: readonly string[]; strip: number; prepend: string; cps_limit: number; concurrent_calls_limit: number; secure: boolean; priority: number; enabled: boolean; first_response_ms: number | null; answer_ms: number | null; failover_on: readonly string[] | null; max_redirects: number | null; probe: boolean; weight: number | null; windows: readonly string[]; costs: Readonly<Record<string, number>>; rewrite: readonly { match: string; replace: string }[]; stir: "off" | "verify" | "refuse" | "require" | null; sign: boolean; identity: "trusted" | "untrusted" | null; identity_header: "pai" | "rpid" | "both" | null; pass_headers: readonly string[] | null; add_headers: Readonly<Record<string, string>>; remove_headers: readonly string[]; large_over_tcp: boolean; delayed_offer: boolean; refer: boolean };
  };
  /** List SIP gateways */
  'GET /admin/v1/carriers': {
    reply: { carriers: readonly { name: string; host: string; port: number | null; transport: string; auth?: { username: string; password: string; register: boolean }; source_addresses: readonly string[]; prefixes: readonly string[]; strip: number; prepend: string; cps_limit: number; concurrent_calls_limit: number; secure: boolean; priority: number; enabled: boolean; first_response_ms: number | null; answer_ms: number | null; failover_on: readonly string[] | null; max_redirects: number | null; probe: boolean; weight: number | null; windows: readonly string[]; costs: Readonly<Record<string, number>>; rewrite: readonly { match: string; replace: string }[]; stir: "off" | "verify" | "refuse" | "require" | null; sign: boolean; identity: "trusted" | "untrusted" | null; identity_header: "pai" | "rpid" | "both" | null; pass_headers: readonly string[] | null; add_headers: Readonly<Record<string, string>>; remove_headers: readonly string[]; large_over_tcp: boolean; delayed_offer: boolean; refer: boolean; up: boolean | null; registered: boolean | null }[] };
  };
  /** Add a SIP gateway, with its name in the path */
  'POST /admin/v1/carriers/{name}': {
    path: { name: string };
    body: { host: string; identity?: "trusted" | "untrusted" | null; identity_header?: "pai" | "rpid" | "both" | null; pass_headers?: readonly string[] | null; add_headers?: Readonly<Record<string, string>> | null; remove_headers?: readonly string[] | null; large_over_tcp?: boolean; delayed_offer?: boolean; refer?: boolean; stir?: "off" | "verify" | "refuse" | "require" | null; sign?: boolean; port?: number | null; transport?: "udp" | "tcp" | "tls"; auth?: { username: string; password: string; register?: boolean } | null; source_addresses?: readonly string[]; prefixes?: readonly string[]; strip?: number; prepend?: string; cps_limit?: number; concurrent_calls_limit?: number; secure?: boolean; priority?: number; enabled?: boolean; first_response_ms?: number | null; answer_ms?: number | null; failover_on?: readonly string[] | null; max_redirects?: number | null; probe?: boolean; weight?: number | null; windows?: readonly string[] | null; costs?: Readonly<Record<string, number>> | null; rewrite?: readonly { match: string; replace: string }[] | null };
    reply: { name: string; host: string; port: number | null; transport: string; auth?: { username: string; password: string; register: boolean }; source_addresses: readonly string[]; prefixes: readonly string[]; strip: number; prepend: string; cps_limit: number; concurrent_calls_limit: number; secure: boolean; priority: number; enabled: boolean; first_response_ms: number | null; answer_ms: number | null; failover_on: readonly string[] | null; max_redirects: number | null; probe: boolean; weight: number | null; windows: readonly string[]; costs: Readonly<Record<string, number>>; rewrite: readonly { match: string; replace: string }[]; stir: "off" | "verify" | "refuse" | "require" | null; sign: boolean; identity: "trusted" | "untrusted" | null; identity_header: "pai" | "rpid" | "both" | null; pass_headers: readonly string[] | null; add_headers: Readonly<Record<string, string>>; remove_headers: readonly string[]; large_over_tcp: boolean; delayed_offer: boolean; refer: boolean };
  };
  /** Get a SIP gateway */
  'GET /admin/v1/carriers/{name}': {
    path: { name: string };
    reply: { name: string; host: string; port: number | null; transport: string; auth?: { username: string; password: string; register: boolean }; source_addresses: readonly string[]; prefixes: readonly string[]; strip: number; prepend: string; cps_limit: number; concurrent_calls_limit: number; secure: boolean; priority: number; enabled: boolean; first_response_ms: number | null; answer_ms: number | null; failover_on: readonly string[] | null; max_redirects: number | null; probe: boolean; weight: number | null; windows: readonly string[]; costs: Readonly<Record<string, number>>; rewrite: readonly { match: string; replace: string }[]; stir: "off" | "verify" | "refuse" | "require" | null; sign: boolean; identity: "trusted" | "untrusted" | null; identity_header: "pai" | "rpid" | "both" | null; pass_headers: readonly string[] | null; add_headers: Readonly<Record<string, string>>; remove_headers: readonly string[]; large_over_tcp: boolean; delayed_offer: boolean; refer: boolean };
  };
  /** Update a SIP gateway */
  'PATCH /admin/v1/carriers/{name}': {
    path: { name: string };
    body?: { host?: string; identity?: "trusted" | "untrusted" | null; identity_header?: "pai" | "rpid" | "both" | null; pass_headers?: readonly string[] | null; add_headers?: Readonly<Record<string, string>> | null; remove_headers?: readonly string[] | null; large_over_tcp?: boolean; delayed_offer?: boolean; refer?: boolean; stir?: "off" | "verify" | "refuse" | "require" | null; sign?: boolean; port?: number | null; transport?: "udp" | "tcp" | "tls"; auth?: { username: string; password: string; register?: boolean } | null; source_addresses?: readonly string[]; prefixes?: readonly string[]; strip?: number; prepend?: string; cps_limit?: number; concurrent_calls_limit?: number; secure?: boolean; priority?: number; enabled?: boolean; first_response_ms?: number | null; answer_ms?: number | null; failover_on?: readonly string[] | null; max_redirects?: number | null; probe?: boolean; weight?: number | null; windows?: readonly string[] | null; costs?: Readonly<Record<string, number>> | null; rewrite?: readonly { match: string; replace: string }[] | null };
    reply: { name: string; host: string; port: number | null; transport: string; auth?: { username: string; password: string; register: boolean }; source_addresses: readonly string[]; prefixes: readonly string[]; strip: number; prepend: string; cps_limit: number; concurrent_calls_limit: number; secure: boolean; priority: number; enabled: boolean; first_response_ms: number | null; answer_ms: number | null; failover_on: readonly string[] | null; max_redirects: number | null; probe: boolean; weight: number | null; windows: readonly string[]; costs: Readonly<Record<string, number>>; rewrite: readonly { match: string; replace: string }[]; stir: "off" | "verify" | "refuse" | "require" | null; sign: boolean; identity: "trusted" | "untrusted" | null; identity_header: "pai" | "rpid" | "both" | null; pass_headers: readonly string[] | null; add_headers: Readonly<Record<string, string>>; remove_headers: readonly string[]; large_over_tcp: boolean; delayed_offer: boolean; refer: boolean };
  };
  /** Remove a SIP gateway */
  'DELETE /admin/v1/carriers/{name}': {
    path: { name: string };
    reply: undefined;
  };
  /** Set a rate. It replaces a rate with the same direction, prefix, currency and account */
  'POST /admin/v1/rates': {
    body: { direction: "outbound" | "inbound" | "sip" | "stream" | "recording" | "transcription" | "number"; prefix?: string; per_minute: number; pulse_seconds?: number; currency: string; account_id?: string | null };
    reply: { direction: string; prefix: string; per_minute: number; pulse_seconds: number; currency: string; account_id: string | null };
  };
  /** List the rates in force, including those in the price list file */
  'GET /admin/v1/rates': {
    reply: { rates: readonly { direction: string; prefix: string; per_minute: number; pulse_seconds: number; currency: string; account_id: string | null }[] };
  };
  /** Remove a rate. If the price list file has one, it applies again */
  'DELETE /admin/v1/rates': {
    query: { direction: "outbound" | "inbound" | "sip" | "stream" | "recording" | "transcription" | "number" | undefined; prefix?: Text; currency: Text; account_id?: Text };
    reply: undefined;
  };
  /** Test the routing of a call to a number, without placing a call */
  'GET /admin/v1/routes': {
    query: { account_id: Text; from: Text; to: Text };
    reply: { to: string; country: string | null; caller_id: string | null; per_minute: number | null; currency: string | null; refusal: string | null; carriers: readonly { carrier: string; rank: number | null; why: string | null; prefix: string | null; priority: number; cost: number | null; weight: number | null; number: string }[] };
  };
  /** Add numbers that campaigns of all accounts must not call, starting with the next call */
  'POST /admin/v1/do-not-call': {
    body: { numbers: readonly string[] };
    reply: { added: number };
  };
  /** List the numbers that campaigns of all accounts must not call, in ascending order */
  'GET /admin/v1/do-not-call': {
    query?: { limit?: Text; offset?: Text; search?: Text };
    reply: { objects: readonly { number: string; added_at: string }[]; total: number };
  };
  /** Remove a number from the do-not-call list */
  'DELETE /admin/v1/do-not-call/{number}': {
    path: { number: string };
    reply: undefined;
  };
  /** List live and queued calls of all accounts */
  'GET /admin/v1/calls': {
    reply: { count: number; calls: readonly { account_id: string; call_uuid: string; request_uuid: string | null; call_status: string; direction: string; from: string; to: string; caller_name: string; session_start: string; start_time: string; answer_time: string | null; stir_verification: string; stir_attestation: string }[] };
  };
  /** Get a call and its timeline, also for a while after its end */
  'GET /admin/v1/calls/{call_uuid}': {
    path: { call_uuid: string };
    reply: { call_uuid: string; live: boolean; call?: { account_id: string; call_uuid: string; request_uuid: string | null; call_status: string; direction: string; from: string; to: string; caller_name: string; session_start: string; start_time: string; answer_time: string | null; stir_verification: string; stir_attestation: string }; log: readonly { at: string; kind: string; text: string; facts: Readonly<Record<string, unknown>> }[] };
  };
  /** Hang up */
  'DELETE /admin/v1/calls/{call_uuid}': {
    path: { call_uuid: string };
    reply: undefined;
  };
  /** Get the account of a running or finished call */
  'GET /admin/v1/calls/{call_uuid}/account': {
    path: { call_uuid: string };
    reply: { account_id: string };
  };
  /** Get the SIP messages of a call and its related legs, oldest first, with passwords, tokens and media keys masked. `format` or Accept selects JSON, a pcap file for Wireshark, or a text ladder */
  'GET /admin/v1/calls/{call_uuid}/messages': {
    path: { call_uuid: string };
    query?: { format?: "json" | "pcap" | "text" | undefined };
    reply: unknown;
  };
  /** Get quality samples of a call (every 5 s), also for a while after its end */
  'GET /admin/v1/calls/{call_uuid}/quality': {
    path: { call_uuid: string };
    reply: { call_uuid: string; samples: readonly { at: string; packets_received: number; packets_sent: number; mos: number | null; jitter: number | null; packet_loss: number | null; playout_delay: number | null; packet_discard: number | null; round_trip_time: number | null; burst_density: number | null; burst_duration: number | null; gap_duration: number | null; r_factor: number | null; mos_sent: number | null; jitter_sent: number | null; packet_loss_sent: number | null; one_way_audio: boolean | null }[] };
  };
  /** Import up to 1000 rows of rates, numbers or accounts. Rows are validated independently; an invalid row is reported and skipped */
  'POST /admin/v1/import/{kind}': {
    path: { kind: string };
    body: { dry_run?: boolean; rows: readonly { line: number; cells: Readonly<Record<string, string | number | boolean>> }[] };
    reply: { dry_run: boolean; done: number; refused: number; rows: readonly { line: number; ok: boolean; result: string; auth_token?: string }[] };
  };
  /** Get the state of this node */
  'GET /admin/v1/status': {
    reply: { version: string; started_at: string; uptime_seconds: number; draining: boolean; calls_active: number; calls_limit: number; calls_per_second: number; registrations: number; parts: readonly { part: string; ready: boolean; detail: string; count?: number }[] };
  };
  /** List the registered contacts of SIP endpoints */
  'GET /admin/v1/registrations': {
    reply: { count: number; registrations: readonly { username: string; contact_uri: string; transport: string; address: string; port: number; user_agent: string; expires_at: string }[] };
  };
  /** Refuse new calls. Running calls continue */
  'POST /admin/v1/drain': {
    reply: { draining: boolean };
  };
  /** Reload the settings, as SIGHUP does: rates, carriers, log level and certificates. Others need a restart */
  'POST /admin/v1/reload': {
    reply: { changed: readonly string[]; needs_restart: readonly string[]; rates: number; carriers: number };
  };
  /** Write a consistent backup of the database into the backups folder while the service runs */
  'POST /admin/v1/backup': {
    body?: { name?: string };
    reply: { path: string; bytes: number };
  };
  /** Get the progress of the running backup */
  'GET /admin/v1/backup': {
    reply: { running: boolean; bytes: number; total_bytes: number };
  };
  /** Verify that every balance equals the sum of its entries */
  'POST /admin/v1/verify': {
    reply: { ok: boolean; faults: readonly { balance_id: string; account_id: string; currency: string; balance_micros: number; sum_of_entries_micros: number; sum_of_daily_totals_micros: number; reserved_micros: number; sum_of_reservations_micros: number }[] };
  };
  /** List the active alarms of all nodes, oldest first */
  'GET /admin/v1/alarms': {
    reply: { alarms: readonly { node: string; kind: string; subject: string; detail: string; since: string; acknowledged_at: string | null; acknowledged_by: string | null }[] };
  };
  /** List the alarms of all nodes that have ended, latest first. They are kept for a year */
  'GET /admin/v1/alarms/history': {
    query?: { limit?: Text; offset?: Text; kind?: Text; search?: Text };
    reply: { alarms: readonly { node: string; kind: string; subject: string; detail: string; since: string; acknowledged_at: string | null; acknowledged_by: string | null; cleared_at: string }[]; total: number };
  };
  /** Acknowledge an active alarm, until it ends. Other operators see who knows of it */
  'POST /admin/v1/alarms/acknowledge': {
    body: { kind: string; subject: string; node?: string };
    reply: undefined;
  };
  /** List the settings in force with their sources. Secrets are masked */
  'GET /admin/v1/settings': {
    reply: { settings: readonly { name: string; description: string; value: string; default_value: string; source: "default" | "file" | "environment" | "console"; place: string; secret: boolean; live: boolean; next_value: string | null }[]; problems: readonly string[] };
  };
  /** Get the last doctor report of this node since its start */
  'GET /admin/v1/doctor': {
    reply: { finished_at: string | null; findings: readonly { check: string; verdict: "ok" | "warning" | "problem" | "skipped"; found: string; advice: string | null }[] };
  };
  /** Run `carillon doctor` on this node: checks of settings, machine and network */
  'POST /admin/v1/doctor': {
    reply: { finished_at: string | null; findings: readonly { check: string; verdict: "ok" | "warning" | "problem" | "skipped"; found: string; advice: string | null }[] };
  };
  /** List the latest log lines of a node, oldest first. A node keeps 5000 in memory */
  'GET /admin/v1/log': {
    query?: { node?: Text; level?: "debug" | "info" | "warn" | "error" | undefined; call_uuid?: Text; search?: Text; after?: Text; limit?: Text };
    reply: { node: string; lines: readonly { number: number; time: string; level: string; message: string; call_uuid: string | null; fields: string }[] };
  };
  /** Get running calls and new calls per second of all nodes from the Prometheus server of the settings */
  'GET /admin/v1/history': {
    query?: { period?: "6h" | "24h" | "7d" | "30d" | undefined };
    reply: { available: boolean; step_seconds: number; calls: readonly { at: number; value: number }[]; calls_per_second: readonly { at: number; value: number }[] };
  };
  /** List the live nodes that share the database */
  'GET /admin/v1/nodes': {
    reply: { nodes: readonly { node: string; epoch: number; self: boolean; state: "serving" | "draining" | "not_ready" | "unreachable"; detail: string; version: string | null; started_at: string; calls_active: number | null; calls_limit: number | null; registrations: number | null }[] };
  };
  /** Refuse new calls on a node. Running calls continue */
  'POST /admin/v1/nodes/{node}/drain': {
    path: { node: string };
    reply: { draining: boolean };
  };
  /** List all console users */
  'GET /admin/v1/users': {
    reply: { users: readonly { user_id: string; email: string; role: string; account_id: string | null; has_totp: boolean; created_at: string }[] };
  };
  /** Invite a console user. Returns a one-time link that creates the user */
  'POST /admin/v1/users': {
    body: { email?: string; role: "owner" | "operator" | "developer" | "viewer" | "billing"; account_id?: string };
    reply: { link: string; email: string | null; role: string; account_id: string | null; expires_at: string };
  };
  /** Delete a console user. The user's sessions end */
  'DELETE /admin/v1/users/{user_id}': {
    path: { user_id: string };
    reply: undefined;
  };
  /** List the audit log, newest first */
  'GET /admin/v1/audit': {
    query?: { limit?: Text; offset?: Text; who?: Text; what?: Text; from?: Text; to?: Text };
    reply: { total: number; entries: readonly { at: string; who: string; account_id: string | null; what: string; method: string; path: string; status: number; address: string | null; detail: string | null }[] };
  };
  /** Show the REST API page, including the operator's part */
  'GET /admin/docs': {
    reply: FileReply;
  };
  /** Get the REST API with the operator's part as an OpenAPI 3.1 document */
  'GET /admin/openapi.json': {
    reply: unknown;
  };
}
