# Made by scripts/client-api.ts from the API description (/admin/openapi.json). Not to be edited.
"""Input and output of every operation of the REST API."""
from abc import abstractmethod
from typing import IO, Any, Dict, Iterator, List, Literal, Optional, Tuple, TypedDict, Union, overload

from .transport import Download

#: Query parameter. Numbers and booleans are converted to text; None is omitted.
Text = Union[str, int, float, bool, None]


class GetCredentialsUseReply(TypedDict):
    last_used_at: Optional[str]
    last_address: Optional[str]
    last_user_agent: Optional[str]
    requests: int


class GetAuthMeReplyFeatures(TypedDict):
    call_queue: bool


class GetAuthMeReply(TypedDict):
    type: str
    id: str
    api_id: str
    name: str
    email: str
    phone: str
    description: str
    auth_id: str
    auth_secret: str
    auth_token_expire_time: Optional[str]
    country: str
    currency: str
    timezone: str
    city: str
    state: str
    address: str
    zip_code: str
    company: str
    account_type: str
    postpaid: bool
    auto_recharge: bool
    enabled: bool
    customer_type: str
    credit_limit: float
    cps_limit: int
    concurrent_calls_limit: int
    base_cps_limit: int
    base_concurrent_calls_limit: int
    purchased_cps: int
    purchased_concurrent_calls: int
    features: GetAuthMeReplyFeatures
    ip_auth_enabled: bool
    ip_whitelist_rules: Dict[str, Any]
    role: str
    is_active: bool
    is_verified: bool
    is_trial_account: bool
    created_at: str
    updated_at: str
    last_login: Optional[str]
    pricing_tier_id: Optional[str]


class _GetReplyRequired(TypedDict):
    account_type: str
    address: str
    auth_id: str
    auto_recharge: bool
    billing_mode: str
    cash_credits: str
    city: str
    country: str
    currency: str
    name: str
    resource_uri: str
    state: str
    timezone: str


class _GetReplyOptional(TypedDict, total=False):
    api_id: str


class GetReply(_GetReplyRequired, _GetReplyOptional):
    pass


class PostReply(TypedDict):
    api_id: str
    message: str


class PostBody(TypedDict, total=False):
    name: str
    timezone: str
    city: None
    address: None


class GetCapacityReplyRunningCampaignsItem(TypedDict):
    campaign_id: str
    name: str
    status: str
    max_concurrent: int
    running: int
    queued: int


class GetCapacityReply(TypedDict):
    concurrent_calls: int
    max_concurrent: int
    concurrent_free: int
    utilization_pct: float
    running_campaigns: List[GetCapacityReplyRunningCampaignsItem]


class GetConcurrencyReply(TypedDict):
    account_id: str
    concurrent_calls: int
    max_concurrent: int
    utilization_pct: float
    request_id: str


class PostTokenReply(TypedDict):
    api_id: str
    auth_id: str
    auth_token: str
    overlap_seconds: int


class PostTokenBody(TypedDict, total=False):
    overlap_seconds: int


class PostAccessTokenReply(TypedDict):
    access_token: str
    token_type: str
    expires_in: int


class PostAccessTokenBody(TypedDict, total=False):
    expires_in: int


class GetTransactionsQuery(TypedDict, total=False):
    page: Text
    per_page: Text
    from_date: Text
    to_date: Text
    type: Text
    status: Text
    currency: Text
    reference_type: Text
    description: Text
    reference: Text
    transaction_id: Text


class _GetTransactionsReplyTransactionsItemRequired(TypedDict):
    id: str
    account_id: str
    balance_id: str
    type: str
    amount: float
    currency: str
    description: str
    reference_type: str
    status: str
    processed_at: str
    created_at: str
    updated_at: str


class _GetTransactionsReplyTransactionsItemOptional(TypedDict, total=False):
    reference: str


class GetTransactionsReplyTransactionsItem(_GetTransactionsReplyTransactionsItemRequired, _GetTransactionsReplyTransactionsItemOptional):
    pass


class GetTransactionsReplySummaryByReferenceTypeItem(TypedDict):
    reference_type: str
    total_debit: float
    total_credit: float
    count: int


class GetTransactionsReplySummary(TypedDict):
    total_transactions: int
    total_debit: float
    total_credit: float
    net_amount: float
    by_reference_type: List[GetTransactionsReplySummaryByReferenceTypeItem]


class GetTransactionsReply(TypedDict):
    transactions: List[GetTransactionsReplyTransactionsItem]
    summary: GetTransactionsReplySummary
    total: int
    page: int
    per_page: int
    total_pages: int


class GetTransactionsReferenceTypesReply(TypedDict):
    reference_types: List[str]


class GetBalanceByCurrencyReply(TypedDict):
    id: str
    account_id: str
    currency: str
    balance: float
    reserved_funds: float
    promotional_balance: float
    promotional_reserved_balance: float
    available_balance: float
    credit_limit: float
    is_postpaid: bool
    credit_limit_type: str
    low_balance_threshold: float
    status: str
    created_at: str
    updated_at: str


class GetLowBalanceAlertReply(TypedDict):
    url: Optional[str]
    emails: List[str]
    thresholds: Dict[str, float]


class PostLowBalanceAlertBody(TypedDict, total=False):
    url: Optional[str]
    emails: List[str]
    thresholds: Dict[str, float]


class GetWebhooksQuery(TypedDict, total=False):
    limit: Text
    offset: Text
    outcome: Optional[Literal["delivered", "failed"]]
    event: Text
    call_uuid: Text
    search: Text


class GetWebhooksReplyObjectsItem(TypedDict):
    id: str
    at: str
    event: str
    method: str
    url: str
    status: Optional[int]
    error: Optional[str]
    duration_ms: float
    call_uuid: Optional[str]
    replay_of: Optional[str]


class GetWebhooksReplySummary(TypedDict):
    deliveries: int
    failed: int
    median_ms: int
    p95_ms: int
    pending: int


class GetWebhooksReply(TypedDict):
    objects: List[GetWebhooksReplyObjectsItem]
    total: int
    summary: GetWebhooksReplySummary


class GetWebhooksByDeliveryIdReply(TypedDict):
    id: str
    at: str
    event: str
    method: str
    url: str
    status: Optional[int]
    error: Optional[str]
    duration_ms: float
    call_uuid: Optional[str]
    replay_of: Optional[str]
    request_body: str
    response_body: str
    signed_string: str


class _PostWebhooksTestBodyRequired(TypedDict):
    url: str


class _PostWebhooksTestBodyOptional(TypedDict, total=False):
    method: Literal["GET", "POST"]


class PostWebhooksTestBody(_PostWebhooksTestBodyRequired, _PostWebhooksTestBodyOptional):
    pass


class PostStreamTestReplyObservationsItem(TypedDict):
    name: str
    value: str


class PostStreamTestReply(TypedDict):
    faults: List[str]
    observations: List[PostStreamTestReplyObservationsItem]
    log: List[str]


class _PostStreamTestBodyRequired(TypedDict):
    url: str


class _PostStreamTestBodyOptional(TypedDict, total=False):
    content_type: Literal["audio/x-l16;rate=8000", "audio/x-l16;rate=16000", "audio/x-mulaw;rate=8000"]
    seconds: int


class PostStreamTestBody(_PostStreamTestBodyRequired, _PostStreamTestBodyOptional):
    pass


class _PostEndpointReplyRequired(TypedDict):
    endpoint_id: str
    alias: str
    username: str


class _PostEndpointReplyOptional(TypedDict, total=False):
    api_id: str
    message: str
    sip_uri: str
    resource_uri: str


class PostEndpointReply(_PostEndpointReplyRequired, _PostEndpointReplyOptional):
    pass


class _PostEndpointBodyRequired(TypedDict):
    username: str
    password: str
    alias: str


class _PostEndpointBodyOptional(TypedDict, total=False):
    application: int
    app_id: int
    sub_account: str
    caller_id: Optional[str]
    allow_voice: bool
    allow_message: bool
    allow_video: bool
    allow_same_domain: bool
    allow_other_domains: bool
    allow_phones: bool
    allow_apps: bool


class PostEndpointBody(_PostEndpointBodyRequired, _PostEndpointBodyOptional):
    pass


class GetEndpointQuery(TypedDict, total=False):
    limit: Text
    offset: Text
    username__contains: Text
    username__exact: Text
    username__startswith: Text
    alias__contains: Text
    alias__exact: Text
    application_id__exact: Text
    application_id__isnull: Text
    sub_account: Text


class GetEndpointReplyMeta(TypedDict):
    limit: int
    offset: int
    total_count: int
    next: Optional[str]
    previous: Optional[str]


class _GetEndpointReplyObjectsItemRequired(TypedDict):
    endpoint_id: str
    username: str
    alias: str
    sip_uri: str
    sip_registered: str
    application: Optional[str]
    sub_account: Optional[str]
    resource_uri: str


class _GetEndpointReplyObjectsItemOptional(TypedDict, total=False):
    api_id: str
    app_id: Optional[int]
    caller_id: Optional[str]
    allow_voice: bool
    allow_message: bool
    allow_video: bool
    allow_same_domain: bool
    allow_other_domains: bool
    allow_phones: bool
    allow_apps: bool
    created_at: str
    updated_at: str
    sip_contact: str
    sip_expires: str
    sip_user_agent: str


class GetEndpointReplyObjectsItem(_GetEndpointReplyObjectsItemRequired, _GetEndpointReplyObjectsItemOptional):
    pass


class GetEndpointReply(TypedDict):
    api_id: str
    meta: GetEndpointReplyMeta
    objects: List[GetEndpointReplyObjectsItem]


class PostEndpointByEndpointIdBody(TypedDict, total=False):
    app_id: Optional[int]
    alias: str
    password: str
    caller_id: Optional[str]
    allow_voice: bool
    allow_message: bool
    allow_video: bool
    allow_same_domain: bool
    allow_other_domains: bool
    allow_phones: bool
    allow_apps: bool


class PostApplicationReply(TypedDict):
    api_id: str
    message: str
    app_id: str


class _PostApplicationBodyRequired(TypedDict):
    app_name: str


class _PostApplicationBodyOptional(TypedDict, total=False):
    answer_url: str
    application_type: Literal["XML", "agent"]
    agent: Optional[Union[Dict[str, Any], str]]
    answer_xml: str
    sub_account: str
    subaccount: str
    answer_method: Literal["GET", "POST"]
    hangup_url: str
    hangup_method: Literal["GET", "POST"]
    fallback_answer_url: str
    fallback_method: Literal["GET", "POST"]
    message_url: str
    message_method: Literal["GET", "POST"]
    default_app: bool
    default_endpoint_app: bool
    enabled: bool
    log_incoming_message: bool
    public_uri: bool
    caller_id: Optional[str]


class PostApplicationBody(_PostApplicationBodyRequired, _PostApplicationBodyOptional):
    pass


class GetApplicationQuery(TypedDict, total=False):
    limit: Text
    offset: Text
    subaccount: Text
    app_name__contains: Text


class _GetApplicationReplyObjectsItemRequired(TypedDict):
    app_id: str
    app_name: str
    application_type: str
    answer_url: str
    answer_xml: Optional[str]
    answer_method: str
    hangup_url: str
    hangup_method: str
    fallback_answer_url: str
    fallback_method: str
    message_url: str
    message_method: str
    default_app: bool
    default_endpoint_app: bool
    enabled: bool
    log_incoming_message: bool
    public_uri: bool
    caller_id: Optional[str]
    agent: Optional[Dict[str, Any]]
    sip_transfer_url: str
    sip_transfer_method: str
    sip_uri: str
    sub_account: Optional[str]
    resource_uri: str
    created_at: str
    updated_at: str


class _GetApplicationReplyObjectsItemOptional(TypedDict, total=False):
    api_id: str


class GetApplicationReplyObjectsItem(_GetApplicationReplyObjectsItemRequired, _GetApplicationReplyObjectsItemOptional):
    pass


class GetApplicationReply(TypedDict):
    api_id: str
    meta: GetEndpointReplyMeta
    objects: List[GetApplicationReplyObjectsItem]


class PostApplicationByAppIdBody(TypedDict, total=False):
    app_name: str
    answer_url: str
    application_type: Literal["XML", "agent"]
    agent: Optional[Union[Dict[str, Any], str]]
    answer_xml: str
    answer_method: Literal["GET", "POST"]
    hangup_url: str
    hangup_method: Literal["GET", "POST"]
    fallback_answer_url: str
    fallback_method: Literal["GET", "POST"]
    message_url: str
    message_method: Literal["GET", "POST"]
    default_app: bool
    default_endpoint_app: bool
    enabled: bool
    log_incoming_message: bool
    public_uri: bool
    caller_id: Optional[str]


class DeleteApplicationByAppIdBody(TypedDict, total=False):
    cascade: bool
    new_endpoint_application: int


class GetNumbersQuery(TypedDict, total=False):
    page: Text
    per_page: Text
    search: Text


class GetNumbersReplyItemsItemCapabilities(TypedDict):
    voice: bool
    sms: bool
    mms: bool
    fax: bool


class GetNumbersReplyItemsItem(TypedDict):
    id: str
    account_id: Optional[str]
    sub_account_id: Optional[str]
    e164: str
    country: str
    region: str
    capabilities: GetNumbersReplyItemsItemCapabilities
    status: str
    provider: Optional[str]
    setup_fee: float
    monthly_fee: float
    currency: str
    application_id: Optional[int]
    trunk_group_id: Optional[str]
    voice_enabled: bool
    tags: List[str]
    purchased_at: Optional[str]
    released_at: Optional[str]
    is_blocked: bool
    is_trial_number: bool
    last_billing_date: Optional[str]
    next_billing_date: Optional[str]
    cooldown_ends_at: Optional[str]
    suspended_at: Optional[str]
    alias: Optional[str]
    minimum_commitment_months: int
    aadhaar_verification_required: bool
    aadhaar_verified: bool
    source: str
    created_at: str
    updated_at: str


class GetNumbersReply(TypedDict):
    items: List[GetNumbersReplyItemsItem]
    page: int
    per_page: int
    total: int


class GetInventoryNumbersQuery(TypedDict, total=False):
    page: Text
    per_page: Text
    country: Text
    search: Text


class DeleteNumbersByE164NumberReply(TypedDict):
    status: str
    message: str
    note: str
    release_fee: float
    cancel_url: Optional[str]
    cooldown_ends_at: Optional[str]


class _PostNumbersPurchaseFromInventoryBodyRequired(TypedDict):
    e164: str


class _PostNumbersPurchaseFromInventoryBodyOptional(TypedDict, total=False):
    currency: str


class PostNumbersPurchaseFromInventoryBody(_PostNumbersPurchaseFromInventoryBodyRequired, _PostNumbersPurchaseFromInventoryBodyOptional):
    pass


class PostNumbersByE164NumberApplicationBody(TypedDict):
    application_id: int


class PostNumbersByE164NumberAssignBody(TypedDict):
    trunk_group_id: str


class PostNumbersByE164NumberAssignSubaccountBody(TypedDict):
    sub_account_id: str


class DeleteNumbersByE164NumberAssignSubaccountQuery(TypedDict, total=False):
    force: Text


class GetNumbersByE164NumberHealthReply(TypedDict):
    e164: str
    healthy: bool
    reason: Optional[str]


class GetCallerIdsReplyCallerIdsItem(TypedDict):
    number: str


class GetCallerIdsReply(TypedDict):
    default_caller_id: Optional[str]
    caller_ids: List[GetCallerIdsReplyCallerIdsItem]


class PutCallerIdsDefaultBody(TypedDict):
    number: Optional[str]


class GetNumberQuery(TypedDict, total=False):
    limit: Text
    offset: Text


class GetNumberReplyObjectsItem(TypedDict):
    number: str
    country: str
    region: str
    monthly_rental_rate: str
    resource_uri: str
    sms_enabled: bool
    sms_rate: str
    voice_enabled: bool
    voice_rate: Optional[str]
    added_on: Optional[str]
    alias: Optional[str]
    application: Optional[str]
    carrier: Optional[str]
    number_type: str
    sub_account: Optional[str]


class GetNumberReply(TypedDict):
    api_id: str
    meta: GetEndpointReplyMeta
    objects: List[GetNumberReplyObjectsItem]


class GetNumberByNumberReply(TypedDict):
    api_id: str
    number: str
    country: str
    region: str
    monthly_rental_rate: str
    resource_uri: str
    sms_enabled: bool
    sms_rate: str
    voice_enabled: bool
    voice_rate: Optional[str]
    added_on: Optional[str]
    alias: Optional[str]
    application: Optional[str]
    carrier: Optional[str]
    number_type: str
    sub_account: Optional[str]


class PostNumberByNumberBody(TypedDict, total=False):
    app_id: Union[int, Literal[""]]
    subaccount: str
    alias: Optional[str]


class _GetPhoneNumberQueryRequired(TypedDict):
    country_iso: Text


class _GetPhoneNumberQueryOptional(TypedDict, total=False):
    limit: Text
    offset: Text
    pattern: Text
    type: Optional[Literal["any", "fixed", "local"]]
    services: Optional[Literal["voice"]]


class GetPhoneNumberQuery(_GetPhoneNumberQueryRequired, _GetPhoneNumberQueryOptional):
    pass


class GetPhoneNumberReplyObjectsItem(TypedDict):
    number: str
    country: str
    region: str
    monthly_rental_rate: str
    resource_uri: str
    sms_enabled: bool
    sms_rate: str
    voice_enabled: bool
    voice_rate: Optional[str]
    city: Optional[str]
    lata: Optional[str]
    prefix: Optional[str]
    rate_center: Optional[str]
    restriction: Optional[str]
    restriction_text: Optional[str]
    setup_rate: str
    type: str


class GetPhoneNumberReply(TypedDict):
    api_id: str
    meta: GetEndpointReplyMeta
    objects: List[GetPhoneNumberReplyObjectsItem]


class PostPhoneNumberByNumberReplyNumbersItem(TypedDict):
    number: str
    status: str


class PostPhoneNumberByNumberReply(TypedDict):
    api_id: str
    message: str
    status: str
    numbers: List[PostPhoneNumberByNumberReplyNumbersItem]


class PostPhoneNumberByNumberBody(TypedDict, total=False):
    app_id: Union[int, Literal[""]]


class GetPricingQuery(TypedDict):
    country_iso: Text


class GetPricingReplyPhoneNumbersLocal(TypedDict):
    rate: Optional[str]


class GetPricingReplyPhoneNumbers(TypedDict):
    local: GetPricingReplyPhoneNumbersLocal


class GetPricingReplyVoiceInbound(TypedDict):
    ip: GetPricingReplyPhoneNumbersLocal
    local: GetPricingReplyPhoneNumbersLocal


class GetPricingReplyVoiceOutboundRatesItem(TypedDict):
    prefix: List[str]
    rate: str
    billing_increment_seconds: int


class GetPricingReplyVoiceOutbound(TypedDict):
    ip: GetPricingReplyPhoneNumbersLocal
    local: GetPricingReplyPhoneNumbersLocal
    rates: List[GetPricingReplyVoiceOutboundRatesItem]


class GetPricingReplyVoice(TypedDict):
    inbound: GetPricingReplyVoiceInbound
    outbound: GetPricingReplyVoiceOutbound


class GetPricingReply(TypedDict):
    api_id: str
    country: str
    country_code: str
    country_iso: str
    currency: str
    phone_numbers: GetPricingReplyPhoneNumbers
    voice: GetPricingReplyVoice


class PostJWTTokenReply(TypedDict):
    api_id: str
    token: str


class PostJWTTokenBodyPerVoice(TypedDict, total=False):
    incoming_allow: bool
    outgoing_allow: bool


class PostJWTTokenBodyPer(TypedDict, total=False):
    voice: PostJWTTokenBodyPerVoice


class _PostJWTTokenBodyRequired(TypedDict):
    iss: str


class _PostJWTTokenBodyOptional(TypedDict, total=False):
    sub: str
    nbf: int
    exp: int
    app: str
    per: PostJWTTokenBodyPer


class PostJWTTokenBody(_PostJWTTokenBodyRequired, _PostJWTTokenBodyOptional):
    pass


class PostTrunksReply(TypedDict):
    trunk_id: str
    account_id: str
    name: str
    trunk_domain: str
    trunk_direction: str
    trunk_status: str
    transport: str
    secure: bool
    concurrent_calls_limit: int
    cps_limit: int
    primary_uri_uuid: Optional[str]
    fallback_uri_uuid: Optional[str]
    credential_uuid: Optional[str]
    ipacl_uuid: Optional[str]
    inbound_destination: Optional[str]
    description: str
    recording: bool
    enable_transcription: bool
    pii_redaction: bool
    pii_entity_types: Optional[str]
    webhook_url: Optional[str]
    webhook_method: str
    recording_webhook_enabled: bool
    created_at: str
    updated_at: str


class _PostTrunksBodyRequired(TypedDict):
    name: str


class _PostTrunksBodyOptional(TypedDict, total=False):
    trunk_direction: Literal["inbound", "outbound", "both"]
    trunk_status: Literal["enabled", "disabled"]
    transport: Literal["udp", "tcp", "tls"]
    secure: bool
    primary_uri_uuid: Optional[str]
    fallback_uri_uuid: Optional[str]
    credential_uuid: Optional[str]
    ipacl_uuid: Optional[str]
    concurrent_calls_limit: int
    cps_limit: int
    description: str
    recording: bool
    webhook_url: Optional[str]
    webhook_method: Literal["GET", "POST"]


class PostTrunksBody(_PostTrunksBodyRequired, _PostTrunksBodyOptional):
    pass


class GetTrunksReplyMeta(TypedDict):
    limit: int
    offset: int
    total: int


class GetTrunksReply(TypedDict):
    meta: GetTrunksReplyMeta
    objects: List[PostTrunksReply]


class PutTrunksByTrunkIdBody(TypedDict, total=False):
    name: str
    trunk_direction: Literal["inbound", "outbound", "both"]
    trunk_status: Literal["enabled", "disabled"]
    transport: Literal["udp", "tcp", "tls"]
    secure: bool
    primary_uri_uuid: Optional[str]
    fallback_uri_uuid: Optional[str]
    credential_uuid: Optional[str]
    ipacl_uuid: Optional[str]
    concurrent_calls_limit: int
    cps_limit: int
    description: str
    recording: bool
    webhook_url: Optional[str]
    webhook_method: Literal["GET", "POST"]


class PostOriginationUrisReply(TypedDict):
    id: str
    account_id: str
    name: str
    uri: str
    sip_uri: str
    priority: int
    weight: int
    enabled: bool
    transport: str
    description: str
    created_at: str
    updated_at: str


class PostOriginationUrisBody(TypedDict, total=False):
    name: str
    sip_uri: str
    uri: str
    priority: int
    weight: int
    enabled: bool
    description: str


class GetOriginationUrisReply(TypedDict):
    meta: GetTrunksReplyMeta
    objects: List[PostOriginationUrisReply]


class PostCredentialsReply(TypedDict):
    id: str
    account_id: str
    username: str
    password: str
    realm: str
    enabled: bool
    created_at: str
    updated_at: str


class _PostCredentialsBodyRequired(TypedDict):
    username: str
    password: str


class _PostCredentialsBodyOptional(TypedDict, total=False):
    realm: str
    enabled: bool


class PostCredentialsBody(_PostCredentialsBodyRequired, _PostCredentialsBodyOptional):
    pass


class GetCredentialsReply(TypedDict):
    meta: GetTrunksReplyMeta
    objects: List[PostCredentialsReply]


class PutCredentialsByIdBody(TypedDict, total=False):
    username: str
    password: str
    realm: str
    enabled: bool


class PostIpAclReply(TypedDict):
    id: str
    account_id: str
    ip_address: str
    description: str
    enabled: bool
    created_at: str
    updated_at: str


class _PostIpAclBodyRequired(TypedDict):
    ip_address: str


class _PostIpAclBodyOptional(TypedDict, total=False):
    description: str
    enabled: bool


class PostIpAclBody(_PostIpAclBodyRequired, _PostIpAclBodyOptional):
    pass


class GetIpAclReply(TypedDict):
    meta: GetTrunksReplyMeta
    objects: List[PostIpAclReply]


class PutIpAclByIdBody(TypedDict, total=False):
    ip_address: str
    description: str
    enabled: bool


class PostCallReply(TypedDict):
    api_id: str
    request_uuid: str
    message: str


_PostCallBodyRequired = TypedDict(
    "_PostCallBodyRequired",
    {
        "from": str,
        "to": str,
        "answer_url": str,
    },
)


class _PostCallBodyOptional(TypedDict, total=False):
    answer_method: Literal["GET", "POST"]
    ring_url: str
    ring_method: Literal["GET", "POST"]
    hangup_url: str
    hangup_method: Literal["GET", "POST"]
    fallback_url: str
    fallback_method: Literal["GET", "POST"]
    machine_detection: str
    machine_detection_time: int
    machine_detection_url: str
    machine_detection_method: Literal["GET", "POST"]
    machine_detection_maximum_speech_length: int
    machine_detection_initial_silence: int
    machine_detection_maximum_words: int
    machine_detection_initial_greeting: int
    caller_name: str
    send_digits: str
    send_on_preanswer: bool
    time_limit: int
    hangup_on_ring: int
    ring_timeout: int
    sip_headers: str


class PostCallBody(_PostCallBodyRequired, _PostCallBodyOptional):
    pass


class GetCallQuery(TypedDict, total=False):
    status: Optional[Literal["live", "queued"]]
    limit: Text
    offset: Text
    from_number: Text
    to_number: Text
    call_direction: Optional[Literal["inbound", "outbound"]]
    subaccount: Text
    parent_call_uuid: Text
    hangup_cause_code: Text
    hangup_source: Text
    end_time: Text
    end_time__gt: Text
    end_time__gte: Text
    end_time__lt: Text
    end_time__lte: Text
    bill_duration: Text
    bill_duration__gt: Text
    bill_duration__gte: Text
    bill_duration__lt: Text
    bill_duration__lte: Text


class GetCallByCallUuidQuery(TypedDict, total=False):
    status: Optional[Literal["live", "queued"]]
    call_uuid: Text


class PostCallByCallUuidReply(TypedDict):
    api_id: str
    message: str
    call_uuid: str
    call_uuids: List[str]


class PostCallByCallUuidBody(TypedDict, total=False):
    legs: Literal["aleg", "bleg", "both"]
    aleg_url: str
    aleg_method: Literal["GET", "POST"]
    bleg_url: str
    bleg_method: Literal["GET", "POST"]


class GetCallByCallUuidLogReplyLogItem(TypedDict):
    at: str
    kind: str
    text: str
    facts: Dict[str, Any]


class GetCallByCallUuidLogReply(TypedDict):
    api_id: str
    call_uuid: str
    log: List[GetCallByCallUuidLogReplyLogItem]


class GetCallByCallUuidQualityReply(TypedDict):
    api_id: str
    call_uuid: str
    mos: Optional[float]
    jitter_ms: float
    round_trip_ms: Optional[float]
    packets_received: int
    packets_sent: int
    packets_lost: int
    packets_late: int


class GetCallByCallUuidQualitySamplesReplySamplesItem(TypedDict):
    at: str
    packets_received: int
    packets_sent: int
    mos: Optional[float]
    jitter: Optional[float]
    packet_loss: Optional[float]
    playout_delay: Optional[float]
    packet_discard: Optional[float]
    round_trip_time: Optional[float]
    burst_density: Optional[float]
    burst_duration: Optional[float]
    gap_duration: Optional[float]
    r_factor: Optional[float]
    mos_sent: Optional[float]
    jitter_sent: Optional[float]
    packet_loss_sent: Optional[float]
    one_way_audio: Optional[bool]


class GetCallByCallUuidQualitySamplesReply(TypedDict):
    api_id: str
    call_uuid: str
    samples: List[GetCallByCallUuidQualitySamplesReplySamplesItem]


class _PostCallByCallUuidReferBodyRequired(TypedDict):
    refer_to: str


class _PostCallByCallUuidReferBodyOptional(TypedDict, total=False):
    timeout: int
    callback_url: str
    callback_method: Literal["GET", "POST"]


class PostCallByCallUuidReferBody(_PostCallByCallUuidReferBodyRequired, _PostCallByCallUuidReferBodyOptional):
    pass


class _PostCallByCallUuidTransferBodyRequired(TypedDict):
    to: str


class _PostCallByCallUuidTransferBodyOptional(TypedDict, total=False):
    mode: Literal["blind", "attended", "warm"]
    stream: Literal["end", "caller", "colleague"]
    introduction: str
    music: str
    caller_id: str
    timeout: int
    on_failure: Literal["next", "stream"]
    callback_url: str
    callback_method: Literal["GET", "POST"]


class PostCallByCallUuidTransferBody(_PostCallByCallUuidTransferBodyRequired, _PostCallByCallUuidTransferBodyOptional):
    pass


class PostCallByCallUuidRecordReply(TypedDict):
    api_id: str
    message: str
    recording_id: str
    url: str


class PostCallByCallUuidRecordBody(TypedDict, total=False):
    time_limit: int
    file_format: Literal["mp3", "wav"]
    record_channel_type: Literal["stereo", "mono"]
    callback_url: str
    callback_method: Literal["GET", "POST"]
    transcription_type: Literal["auto", "hybrid"]
    transcription_url: str
    transcription_method: Literal["GET", "POST"]


class DeleteCallByCallUuidRecordQuery(TypedDict, total=False):
    recording_id: Text


class DeleteCallByCallUuidRecordBody(TypedDict, total=False):
    recording_id: str
    URL: str


class PostCallByCallUuidRecordPauseBody(TypedDict, total=False):
    recording_id: str


class _PostCallByCallUuidPlayBodyRequired(TypedDict):
    urls: str


class _PostCallByCallUuidPlayBodyOptional(TypedDict, total=False):
    length: int
    legs: Literal["aleg", "bleg", "both"]
    loop: bool
    mix: bool


class PostCallByCallUuidPlayBody(_PostCallByCallUuidPlayBodyRequired, _PostCallByCallUuidPlayBodyOptional):
    pass


class _PostCallByCallUuidSpeakBodyRequired(TypedDict):
    text: str


class _PostCallByCallUuidSpeakBodyOptional(TypedDict, total=False):
    voice: str
    language: str
    legs: Literal["aleg", "bleg", "both"]
    loop: bool
    mix: bool


class PostCallByCallUuidSpeakBody(_PostCallByCallUuidSpeakBodyRequired, _PostCallByCallUuidSpeakBodyOptional):
    pass


class _PostCallByCallUuidDTMFBodyRequired(TypedDict):
    digits: str


class _PostCallByCallUuidDTMFBodyOptional(TypedDict, total=False):
    leg: Literal["aleg", "bleg", "both"]


class PostCallByCallUuidDTMFBody(_PostCallByCallUuidDTMFBodyRequired, _PostCallByCallUuidDTMFBodyOptional):
    pass


class PostCallByCallUuidStreamReply(TypedDict):
    api_id: str
    message: str
    stream_id: str


class _PostCallByCallUuidStreamBodyRequired(TypedDict):
    service_url: str


class _PostCallByCallUuidStreamBodyOptional(TypedDict, total=False):
    bidirectional: bool
    audio_track: Literal["inbound", "outbound", "both"]
    stream_timeout: int
    content_type: str
    status_callback_url: str
    status_callback_method: Literal["GET", "POST"]
    extra_headers: str
    play_positions: bool
    speech_events: bool
    barge_in: Literal["none", "duck", "clear"]
    speech_sensitivity: int
    speech_min_ms: int
    noise_suppression: bool
    echo_cancellation: bool
    gain_control: bool
    speech_end_ms: int


class PostCallByCallUuidStreamBody(_PostCallByCallUuidStreamBodyRequired, _PostCallByCallUuidStreamBodyOptional):
    pass


class GetCallByCallUuidStreamReplyMeta(TypedDict):
    count: int
    limit: int
    offset: int
    next: Optional[str]
    previous: Optional[str]


class _GetCallByCallUuidStreamReplyObjectsItemRequired(TypedDict):
    stream_id: str
    call_uuid: str
    service_url: str
    audio_track: str
    bidirectional: bool
    content_type: str
    sampling_rate: int
    stream_timeout: int
    status_callback_url: Optional[str]
    status_callback_method: Optional[str]
    status: str
    start_time: str
    end_time: Optional[str]
    bill_duration: int
    rounded_bill_duration: int
    billed_amount: float
    created_at: str
    resource_uri: str


class _GetCallByCallUuidStreamReplyObjectsItemOptional(TypedDict, total=False):
    api_id: str


class GetCallByCallUuidStreamReplyObjectsItem(_GetCallByCallUuidStreamReplyObjectsItemRequired, _GetCallByCallUuidStreamReplyObjectsItemOptional):
    pass


class GetCallByCallUuidStreamReply(TypedDict):
    api_id: str
    meta: GetCallByCallUuidStreamReplyMeta
    objects: List[GetCallByCallUuidStreamReplyObjectsItem]


class DeleteCallByCallUuidStreamQuery(TypedDict, total=False):
    drain: Text


class GetConferenceReply(TypedDict):
    api_id: str
    conferences: List[str]


GetConferenceByNameReplyMembersItem = TypedDict(
    "GetConferenceByNameReplyMembersItem",
    {
        "muted": bool,
        "member_id": str,
        "deaf": bool,
        "from": str,
        "to": str,
        "caller_name": str,
        "direction": str,
        "call_uuid": str,
        "join_time": str,
    },
)


class GetConferenceByNameReply(TypedDict):
    api_id: str
    conference_name: str
    conference_uuid: str
    conference_run_time: str
    conference_member_count: str
    members: List[GetConferenceByNameReplyMembersItem]


class PostConferenceByNameMemberByMemberIdMuteReply(TypedDict):
    api_id: str
    message: str
    member_id: Union[str, List[str]]


class PostConferenceByNameMemberByMemberIdPlayBody(TypedDict):
    url: str


class _PostConferenceByNameMemberByMemberIdSpeakBodyRequired(TypedDict):
    text: str


class _PostConferenceByNameMemberByMemberIdSpeakBodyOptional(TypedDict, total=False):
    voice: str
    language: str


class PostConferenceByNameMemberByMemberIdSpeakBody(_PostConferenceByNameMemberByMemberIdSpeakBodyRequired, _PostConferenceByNameMemberByMemberIdSpeakBodyOptional):
    pass


class GetMultiPartyCallQuery(TypedDict, total=False):
    friendly_name: Text
    status: Optional[Literal["initialized", "active", "ended"]]
    termination_cause_code: Text
    end_time: Text
    end_time__gt: Text
    end_time__gte: Text
    end_time__lt: Text
    end_time__lte: Text
    creation_time: Text
    creation_time__gt: Text
    creation_time__gte: Text
    creation_time__lt: Text
    creation_time__lte: Text
    limit: Text
    offset: Text


class GetMultiPartyCallReplyObjectsItem(TypedDict):
    friendly_name: str
    mpc_uuid: str
    status: Literal["Initialized", "Active", "Ended"]
    duration: int
    participant_count: int
    participants: str
    recording: Literal["not-recording", "recording", "paused"]
    creation_time: Optional[str]
    start_time: Optional[str]
    end_time: Optional[str]
    termination_cause: Optional[str]
    termination_cause_code: Optional[int]
    resource_uri: str


class GetMultiPartyCallReply(TypedDict):
    api_id: str
    meta: GetEndpointReplyMeta
    objects: List[GetMultiPartyCallReplyObjectsItem]


class GetMultiPartyCallByMpcIdReply(TypedDict):
    api_id: str
    friendly_name: str
    mpc_uuid: str
    status: Literal["Initialized", "Active", "Ended"]
    duration: int
    participant_count: int
    participants: str
    recording: Literal["not-recording", "recording", "paused"]
    creation_time: Optional[str]
    start_time: Optional[str]
    end_time: Optional[str]
    termination_cause: Optional[str]
    termination_cause_code: Optional[int]
    resource_uri: str


class PostMultiPartyCallByMpcIdBody(TypedDict):
    status: Union[Literal["active"], List[Literal["active"]]]


PostMultiPartyCallByMpcIdParticipantReplyCallsItem = TypedDict(
    "PostMultiPartyCallByMpcIdParticipantReplyCallsItem",
    {
        "to": str,
        "from": str,
        "call_uuid": str,
    },
)


class _PostMultiPartyCallByMpcIdParticipantReplyRequired(TypedDict):
    api_id: str
    message: str
    calls: List[PostMultiPartyCallByMpcIdParticipantReplyCallsItem]


class _PostMultiPartyCallByMpcIdParticipantReplyOptional(TypedDict, total=False):
    request_uuid: str


class PostMultiPartyCallByMpcIdParticipantReply(_PostMultiPartyCallByMpcIdParticipantReplyRequired, _PostMultiPartyCallByMpcIdParticipantReplyOptional):
    pass


class _PostMultiPartyCallByMpcIdParticipantBodyRequired(TypedDict):
    role: Literal["agent", "supervisor", "customer", "Agent", "Supervisor", "Customer"]


_PostMultiPartyCallByMpcIdParticipantBodyOptional = TypedDict(
    "_PostMultiPartyCallByMpcIdParticipantBodyOptional",
    {
        "from": str,
        "to": str,
        "call_uuid": str,
        "caller_name": str,
        "call_status_callback_url": str,
        "call_status_callback_method": Literal["GET", "POST"],
        "ring_timeout": Union[int, str],
        "max_duration": int,
        "max_participants": int,
        "wait_music_url": str,
        "agent_hold_music_url": str,
        "customer_hold_music_url": str,
        "status_callback_url": str,
        "status_callback_events": str,
        "recording_callback_url": str,
        "on_exit_action_url": str,
        "record": bool,
        "record_file_format": Literal["mp3", "wav"],
        "coach_mode": bool,
        "mute": bool,
        "hold": bool,
        "stay_alone": bool,
        "start_mpc_on_enter": bool,
        "end_mpc_on_exit": bool,
        "relay_dtmf_inputs": bool,
        "enter_sound": str,
        "exit_sound": str,
    }, total=False,
)


class PostMultiPartyCallByMpcIdParticipantBody(_PostMultiPartyCallByMpcIdParticipantBodyRequired, _PostMultiPartyCallByMpcIdParticipantBodyOptional):
    pass


class GetMultiPartyCallByMpcIdParticipantQuery(TypedDict, total=False):
    call_uuid: Text


GetMultiPartyCallByMpcIdParticipantReplyObjectsItem = TypedDict(
    "GetMultiPartyCallByMpcIdParticipantReplyObjectsItem",
    {
        "member_id": str,
        "mpc_uuid": str,
        "call_uuid": str,
        "role": str,
        "from": str,
        "to": str,
        "direction": str,
        "mute": bool,
        "hold": bool,
        "coach_mode": bool,
        "recording": Literal["not-recording", "recording", "paused"],
        "start_mpc_on_enter": bool,
        "end_mpc_on_exit": bool,
        "duration": int,
        "join_time": Optional[str],
        "exit_time": Optional[str],
        "exit_cause": Optional[str],
        "resource_uri": str,
    },
)


class GetMultiPartyCallByMpcIdParticipantReply(TypedDict):
    api_id: str
    objects: List[GetMultiPartyCallByMpcIdParticipantReplyObjectsItem]


GetMultiPartyCallByMpcIdParticipantByParticipantIdReply = TypedDict(
    "GetMultiPartyCallByMpcIdParticipantByParticipantIdReply",
    {
        "api_id": str,
        "member_id": str,
        "mpc_uuid": str,
        "call_uuid": str,
        "role": str,
        "from": str,
        "to": str,
        "direction": str,
        "mute": bool,
        "hold": bool,
        "coach_mode": bool,
        "recording": Literal["not-recording", "recording", "paused"],
        "start_mpc_on_enter": bool,
        "end_mpc_on_exit": bool,
        "duration": int,
        "join_time": Optional[str],
        "exit_time": Optional[str],
        "exit_cause": Optional[str],
        "resource_uri": str,
    },
)


class _PostMultiPartyCallByMpcIdParticipantByParticipantIdReplyRequired(TypedDict):
    api_id: str


class _PostMultiPartyCallByMpcIdParticipantByParticipantIdReplyOptional(TypedDict, total=False):
    mute: str
    hold: str
    coach_mode: str


class PostMultiPartyCallByMpcIdParticipantByParticipantIdReply(_PostMultiPartyCallByMpcIdParticipantByParticipantIdReplyRequired, _PostMultiPartyCallByMpcIdParticipantByParticipantIdReplyOptional):
    pass


class PostMultiPartyCallByMpcIdParticipantByParticipantIdBody(TypedDict, total=False):
    mute: bool
    hold: bool
    coach_mode: bool


class PostMultiPartyCallByMpcIdRecordReply(TypedDict):
    api_id: str
    message: str
    recording_id: str
    recording_url: str
    url: str


class PostMultiPartyCallByMpcIdRecordBody(TypedDict, total=False):
    file_format: Literal["mp3", "wav"]
    recording_callback_url: str
    recording_callback_method: Literal["GET", "POST"]


class PostMultiPartyCallByMpcIdParticipantByParticipantIdRecordBody(TypedDict, total=False):
    file_format: Literal["mp3", "wav"]
    recording_callback_url: str
    recording_callback_method: Literal["GET", "POST"]
    record_track_type: Literal["participant", "all"]


class PostMultiPartyCallByMpcIdMemberByParticipantIdPlayReply(TypedDict):
    api_id: str
    message: str
    mpcMemberId: List[str]
    mpcName: str


class GetCdrQuery(TypedDict, total=False):
    from_number: Text
    to_number: Text
    start_date: Text
    end_date: Text
    call_direction: Optional[Literal["inbound", "outbound"]]
    min_duration: Text
    sip_call_id: Text
    bridge_uuid: Text
    hangup_cause: Text
    hangup_disposition: Text
    context: Text
    campaign_id: Text
    trunk_id: Text
    hangup_cause_code: Text
    min_cost: Text
    max_cost: Text
    one_way_audio: Text
    sub_account: Text
    search: Text
    page: Text
    per_page: Text


class GetCdrReplyDataItemStreamCdrsItemTurns(TypedDict):
    count: int
    interruptions: int
    p50_ms: Optional[float]
    p95_ms: Optional[float]


class _GetCdrReplyDataItemStreamCdrsItemRequired(TypedDict):
    stream_id: str
    service_url: str
    audio_track: str
    bidirectional: bool
    content_type: str
    start_time: str
    end_time: str
    duration: int
    rounded_bill_duration: int
    billed_amount: float
    currency: str
    stream_termination_reason: str


class _GetCdrReplyDataItemStreamCdrsItemOptional(TypedDict, total=False):
    disclosed_at: str
    turns: GetCdrReplyDataItemStreamCdrsItemTurns


class GetCdrReplyDataItemStreamCdrsItem(_GetCdrReplyDataItemStreamCdrsItemRequired, _GetCdrReplyDataItemStreamCdrsItemOptional):
    pass


class _GetCdrReplyDataItemRequired(TypedDict):
    id: int
    uuid: str
    account_id: str
    call_direction: str
    context: str
    region: str
    origination_region: str
    caller_id_name: str
    caller_id_number: str
    destination_number: str
    start_time: str
    progress_time: Optional[str]
    answer_time: Optional[str]
    end_time: str
    duration: int
    billsec: int
    ring_time: int
    cost: float
    streaming_cost: float
    total_cost: float
    currency: str
    hangup_cause: str
    hangup_cause_code: int
    hangup_cause_name: str
    hangup_source: str
    hangup_disposition: str
    failure_code: Optional[int]
    failure_reason: Optional[str]
    bridge_uuid: Optional[str]
    sip_call_id: Optional[str]
    sip_user_agent: Optional[str]
    network_addr: Optional[str]
    carrier_ip: Optional[str]
    codec: Optional[str]
    mos: Optional[float]
    jitter: Optional[float]
    packet_loss: Optional[float]
    campaign_id: Optional[str]
    customer_endpoint: Optional[str]
    trunk_id: Optional[str]
    terminated_to: Optional[str]
    created_at: str
    updated_at: str


class _GetCdrReplyDataItemOptional(TypedDict, total=False):
    packet_discard: Optional[float]
    round_trip_time: Optional[float]
    burst_density: Optional[float]
    burst_duration: Optional[float]
    gap_duration: Optional[float]
    r_factor: Optional[float]
    mos_sent: Optional[float]
    jitter_sent: Optional[float]
    packet_loss_sent: Optional[float]
    one_way_audio: Optional[bool]
    rounded_bill_duration: int
    stir_verification: str
    stir_attestation: str
    consent: Optional[str]
    consent_at: Optional[str]
    stream_termination_reason: Optional[str]
    stream_cdrs: List[GetCdrReplyDataItemStreamCdrsItem]


class GetCdrReplyDataItem(_GetCdrReplyDataItemRequired, _GetCdrReplyDataItemOptional):
    pass


class GetCdrReplyPagination(TypedDict):
    page: int
    per_page: int
    total: int
    pages: int
    has_next: bool
    has_prev: bool


class GetCdrReplySummary(TypedDict):
    totalCalls: int
    answeredCalls: int
    answerRate: float
    avgCallDuration: str
    total_duration_seconds: int
    total_billable_seconds: int
    total_cost: float
    last_call_at: Optional[str]


class GetCdrReply(TypedDict):
    account_id: str
    count: int
    data: List[GetCdrReplyDataItem]
    success: bool
    pagination: GetCdrReplyPagination
    summary: GetCdrReplySummary


class GetCdrSearchReplyFilters(TypedDict, total=False):
    call_direction: str
    from_number: str
    hangup_cause: str
    to_number: str


class GetCdrSearchReply(TypedDict):
    account_id: str
    count: int
    data: List[GetCdrReplyDataItem]
    success: bool
    pagination: GetCdrReplyPagination
    summary: GetCdrReplySummary
    filters: GetCdrSearchReplyFilters


class GetCdrRecentQuery(TypedDict, total=False):
    limit: Text


class GetCdrRecentReply(TypedDict):
    account_id: str
    count: int
    data: List[GetCdrReplyDataItem]
    success: bool


class GetCdrExportQuery(TypedDict, total=False):
    from_number: Text
    to_number: Text
    start_date: Text
    end_date: Text
    call_direction: Optional[Literal["inbound", "outbound"]]
    min_duration: Text
    sip_call_id: Text
    bridge_uuid: Text
    hangup_cause: Text
    hangup_disposition: Text
    context: Text
    campaign_id: Text
    trunk_id: Text
    hangup_cause_code: Text
    min_cost: Text
    max_cost: Text
    one_way_audio: Text
    sub_account: Text
    search: Text
    min_mos: Text
    max_mos: Text
    format: Optional[Literal["csv", "ndjson"]]


class GetCdrByCallUuidReply(TypedDict):
    data: GetCdrReplyDataItem
    success: bool


class GetCdrPageQuery(TypedDict, total=False):
    cursor: Text
    limit: Text
    search: Text
    start_date: Text
    end_date: Text
    call_direction: Optional[Literal["inbound", "outbound"]]
    min_duration: Text
    hangup_cause_code: Text
    campaign_id: Text
    trunk_id: Text
    min_cost: Text
    max_cost: Text
    min_mos: Text
    max_mos: Text
    one_way_audio: Text
    sub_account: Text


class GetCdrPageReply(TypedDict):
    data: List[GetCdrReplyDataItem]
    next_cursor: Optional[int]
    reached_limit: bool
    searched_to: Optional[str]


class GetCdrHourlyQuery(TypedDict, total=False):
    hours: Text


class GetCdrHourlyReplyHoursItem(TypedDict):
    hour: str
    calls: int
    answered: int
    answered_seconds: int
    cost: float


class GetCdrHourlyReply(TypedDict):
    hours: List[GetCdrHourlyReplyHoursItem]
    mos: Optional[float]


class GetRecordingQuery(TypedDict, total=False):
    limit: Text
    offset: Text
    call_uuid: Text
    from_number: Text
    to_number: Text
    conference_name: Text
    conference_uuid: Text
    subaccount: Text
    mpc_name: Text
    mpc_uuid: Text
    add_time: Text
    add_time__gt: Text
    add_time__gte: Text
    add_time__lt: Text
    add_time__lte: Text
    recording_storage_duration: Text
    recording_storage_duration__gt: Text
    recording_storage_duration__gte: Text
    recording_storage_duration__lt: Text
    recording_storage_duration__lte: Text


class _GetRecordingReplyObjectsItemRequired(TypedDict):
    recording_id: str
    call_uuid: Optional[str]
    conference_name: Optional[str]
    conference_uuid: Optional[str]
    from_number: str
    to_number: str
    add_time: str
    recording_duration_ms: str
    recording_start_ms: Optional[str]
    recording_end_ms: Optional[str]
    recording_format: str
    recording_type: str
    recording_url: str
    resource_uri: str
    rounded_recording_duration: int
    recording_storage_duration: int
    recording_storage_rate: float
    monthly_recording_storage_amount: float


class _GetRecordingReplyObjectsItemOptional(TypedDict, total=False):
    api_id: str


class GetRecordingReplyObjectsItem(_GetRecordingReplyObjectsItemRequired, _GetRecordingReplyObjectsItemOptional):
    pass


class GetRecordingReply(TypedDict):
    api_id: str
    meta: GetEndpointReplyMeta
    objects: List[GetRecordingReplyObjectsItem]


class GetRecordingByRecordingIdByFormatQuery(TypedDict, total=False):
    exp: Text
    sig: Text


class DeleteRecordingBulkDeleteQuery(TypedDict, total=False):
    call_uuid: Text
    from_number: Text
    to_number: Text
    conference_name: Text
    conference_uuid: Text
    subaccount: Text
    mpc_name: Text
    mpc_uuid: Text
    add_time: Text
    add_time__gt: Text
    add_time__gte: Text
    add_time__lt: Text
    add_time__lte: Text
    recording_storage_duration: Text
    recording_storage_duration__gt: Text
    recording_storage_duration__gte: Text
    recording_storage_duration__lt: Text
    recording_storage_duration__lte: Text
    recording_format: Optional[Literal["mp3", "wav"]]
    recording_id: Text


class DeleteRecordingBulkDeleteReply(TypedDict):
    api_id: str
    message: str
    deleted: int


class DeleteRecordingBulkDeleteBody(TypedDict, total=False):
    call_uuid: str
    from_number: str
    to_number: str
    conference_name: str
    conference_uuid: str
    subaccount: str
    mpc_name: str
    mpc_uuid: str
    add_time: str
    add_time__gt: str
    add_time__gte: str
    add_time__lt: str
    add_time__lte: str
    recording_storage_duration: str
    recording_storage_duration__gt: str
    recording_storage_duration__gte: str
    recording_storage_duration__lt: str
    recording_storage_duration__lte: str
    recording_format: Literal["mp3", "wav"]
    recording_id: str


class _GetTranscriptionByTranscriptionIdReplyRequired(TypedDict):
    api_id: str
    transcription_id: str
    transcription: str
    status: str
    recording_id: str
    language: str
    duration: int
    transcription_charge: float
    transcription_rate: float


class _GetTranscriptionByTranscriptionIdReplyOptional(TypedDict, total=False):
    error: str
    call_uuid: str


class GetTranscriptionByTranscriptionIdReply(_GetTranscriptionByTranscriptionIdReplyRequired, _GetTranscriptionByTranscriptionIdReplyOptional):
    pass


class _GetRecordingByRecordingIdTranscriptionsReplyObjectsItemRequired(TypedDict):
    transcription_id: str
    transcription: str
    status: str
    recording_id: str
    language: str
    duration: int
    transcription_charge: float
    transcription_rate: float


class _GetRecordingByRecordingIdTranscriptionsReplyObjectsItemOptional(TypedDict, total=False):
    error: str
    call_uuid: str


class GetRecordingByRecordingIdTranscriptionsReplyObjectsItem(_GetRecordingByRecordingIdTranscriptionsReplyObjectsItemRequired, _GetRecordingByRecordingIdTranscriptionsReplyObjectsItemOptional):
    pass


class GetRecordingByRecordingIdTranscriptionsReply(TypedDict):
    api_id: str
    objects: List[GetRecordingByRecordingIdTranscriptionsReplyObjectsItem]


class PostExportRecordingReply(TypedDict):
    api_id: str
    status: str


class PostExportRecordingBodyRecipient(TypedDict):
    customer_account: List[str]


class _PostExportRecordingBodyRequired(TypedDict):
    recipient: PostExportRecordingBodyRecipient


_PostExportRecordingBodyOptional = TypedDict(
    "_PostExportRecordingBodyOptional",
    {
        "from": str,
        "to": str,
        "recording_storage_duration": str,
        "recording_storage_duration__gte": str,
        "recording_storage_duration__gt": str,
        "recording_storage_duration__lte": str,
        "recording_storage_duration__lt": str,
        "from_number": str,
        "to_number": str,
        "call_uuid": str,
        "conference_name": str,
        "recording_format": str,
        "recording_id": str,
    }, total=False,
)


class PostExportRecordingBody(_PostExportRecordingBodyRequired, _PostExportRecordingBodyOptional):
    pass


class GetExportRecordingQuery(TypedDict, total=False):
    limit: Text
    offset: Text
    state: Optional[Literal["queued", "running", "done", "failed"]]


GetExportRecordingReplyObjectsItem = TypedDict(
    "GetExportRecordingReplyObjectsItem",
    {
        "export_id": str,
        "state": str,
        "progress": int,
        "recordings": int,
        "attempts": int,
        "link": Optional[str],
        "link_expires_at": Optional[str],
        "error": Optional[str],
        "recipient": PostExportRecordingBodyRecipient,
        "from": Optional[str],
        "to": Optional[str],
        "created_at": str,
        "updated_at": str,
    },
)


class GetExportRecordingReply(TypedDict):
    api_id: str
    meta: GetEndpointReplyMeta
    objects: List[GetExportRecordingReplyObjectsItem]


GetExportRecordingByExportIdReply = TypedDict(
    "GetExportRecordingByExportIdReply",
    {
        "api_id": str,
        "export_id": str,
        "state": str,
        "progress": int,
        "recordings": int,
        "attempts": int,
        "link": Optional[str],
        "link_expires_at": Optional[str],
        "error": Optional[str],
        "recipient": PostExportRecordingBodyRecipient,
        "from": Optional[str],
        "to": Optional[str],
        "created_at": str,
        "updated_at": str,
    },
)


class GetTransactionsExportQuery(TypedDict, total=False):
    from_date: Text
    to_date: Text
    type: Text
    status: Optional[Literal["completed", "pending", "failed", "cancelled"]]
    currency: Text
    reference_type: Text
    description: Text
    format: Optional[Literal["csv", "ndjson"]]


class GetUsageQuery(TypedDict, total=False):
    from_date: Text
    to_date: Text
    by: Optional[Literal["day", "month"]]


class GetUsageReplyUsageItemAmountsItem(TypedDict):
    currency: str
    source: str
    count: int
    charged: float
    credited: float


class GetUsageReplyUsageItem(TypedDict):
    period: str
    calls: int
    answered: int
    inbound: int
    outbound: int
    talk_seconds: int
    billed_seconds: int
    amounts: List[GetUsageReplyUsageItemAmountsItem]


class GetUsageReply(TypedDict):
    account_id: str
    usage: List[GetUsageReplyUsageItem]


class GetInvoicesByMonthQuery(TypedDict, total=False):
    currency: Text


class GetInvoicesByMonthReplyChargesItem(TypedDict):
    source: str
    description: str
    count: int
    amount: float


class GetInvoicesByMonthReply(TypedDict):
    invoice_number: str
    seller: List[str]
    account_id: str
    account_name: str
    currency: str
    period_start: str
    period_end: str
    preliminary: bool
    opening_balance: float
    charges: List[GetInvoicesByMonthReplyChargesItem]
    total_charges: float
    credits: List[GetInvoicesByMonthReplyChargesItem]
    total_credits: float
    closing_balance: float


class GetAdminV1AccountsByAuthIdCdrExportQuery(TypedDict, total=False):
    start_date: Text
    end_date: Text
    call_direction: Optional[Literal["inbound", "outbound"]]
    hangup_cause: Text
    campaign_id: Text
    format: Optional[Literal["csv", "ndjson"]]


class PostCampaignAgentsReplyStaticHeadersItem(TypedDict):
    key: str
    value: str


class PostCampaignAgentsReply(TypedDict):
    id: str
    account_id: str
    sub_account: Optional[str]
    name: str
    answer_url: str
    answer_method: str
    hangup_url: Optional[str]
    hangup_method: str
    ring_url: Optional[str]
    ring_method: str
    fallback_url: Optional[str]
    fallback_method: str
    sip_headers: Dict[str, str]
    static_headers: List[PostCampaignAgentsReplyStaticHeadersItem]
    machine_detection: str
    machine_detection_url: Optional[str]
    record: bool
    time_limit: int
    ring_timeout: Optional[int]
    created_at: str
    updated_at: str


class _PostCampaignAgentsBodyRequired(TypedDict):
    name: str
    answer_url: str


class _PostCampaignAgentsBodyOptional(TypedDict, total=False):
    answer_method: Literal["GET", "POST"]
    hangup_url: str
    hangup_method: Literal["GET", "POST"]
    ring_url: str
    ring_method: Literal["GET", "POST"]
    fallback_url: str
    fallback_method: Literal["GET", "POST"]
    sip_headers: Dict[str, str]
    static_headers: List[PostCampaignAgentsReplyStaticHeadersItem]
    machine_detection: str
    machine_detection_time: int
    machine_detection_url: str
    machine_detection_method: Literal["GET", "POST"]
    machine_detection_maximum_speech_length: int
    machine_detection_initial_silence: int
    machine_detection_maximum_words: int
    machine_detection_initial_greeting: int
    record: bool
    record_max_length: int
    record_file_format: Literal["mp3", "wav"]
    record_channel_type: Literal["mono", "stereo"]
    record_callback_url: str
    record_callback_method: Literal["GET", "POST"]
    time_limit: int
    ring_timeout: int


class PostCampaignAgentsBody(_PostCampaignAgentsBodyRequired, _PostCampaignAgentsBodyOptional):
    pass


class GetCampaignAgentsReply(TypedDict):
    objects: List[PostCampaignAgentsReply]
    total: int


class PutCampaignAgentsByAgentIdBody(TypedDict, total=False):
    name: str
    answer_url: str
    answer_method: Literal["GET", "POST"]
    hangup_url: str
    hangup_method: Literal["GET", "POST"]
    ring_url: str
    ring_method: Literal["GET", "POST"]
    fallback_url: str
    fallback_method: Literal["GET", "POST"]
    sip_headers: Dict[str, str]
    static_headers: List[PostCampaignAgentsReplyStaticHeadersItem]
    machine_detection: str
    machine_detection_time: int
    machine_detection_url: str
    machine_detection_method: Literal["GET", "POST"]
    machine_detection_maximum_speech_length: int
    machine_detection_initial_silence: int
    machine_detection_maximum_words: int
    machine_detection_initial_greeting: int
    record: bool
    record_max_length: int
    record_file_format: Literal["mp3", "wav"]
    record_channel_type: Literal["mono", "stereo"]
    record_callback_url: str
    record_callback_method: Literal["GET", "POST"]
    time_limit: int
    ring_timeout: int


class PostCampaignsReplyWindowHoursItem(TypedDict):
    weekday: int
    start_time: str
    end_time: str


class PostCampaignsReply(TypedDict):
    id: str
    account_id: str
    sub_account: Optional[str]
    name: str
    agent_id: str
    max_concurrent: int
    cps: float
    timezone: str
    contact_timezone: str
    caller_id_strategy: str
    fixed_caller_id: Optional[str]
    scheduled_at: Optional[str]
    expires_at: Optional[str]
    window_enabled: bool
    window_start_time: Optional[str]
    window_end_time: Optional[str]
    window_days: List[int]
    window_hours: List[PostCampaignsReplyWindowHoursItem]
    holidays: List[str]
    retry_attempts: int
    retry_delays: List[int]
    retry_window_days: int
    retry_on: List[str]
    notify_url: Optional[str]
    pool_rotation_strategy: str
    pool_max_calls_per_number: Optional[int]
    pool_max_calls_per_day: Optional[int]
    pool_cooldown_seconds: int
    max_abandoned_percent: Optional[float]
    status: str
    health: str
    pause_reason: Optional[str]
    paused_reason: Optional[str]
    started_at: Optional[str]
    completed_at: Optional[str]
    last_dial_at: Optional[str]
    total_contacts: int
    pending: int
    dialling: int
    answered: int
    no_answer: int
    busy: int
    failed: int
    retry_pending: int
    expired: int
    consecutive_failures: int
    created_at: str
    updated_at: str


class _PostCampaignsBodyRequired(TypedDict):
    name: str
    agent_id: str
    max_concurrent: int
    timezone: str
    caller_id_strategy: Literal["fixed", "per_contact", "pool"]


class _PostCampaignsBodyOptional(TypedDict, total=False):
    fixed_caller_id: Optional[str]
    cps: float
    scheduled_at: Optional[str]
    expires_at: Optional[str]
    window_enabled: bool
    window_start_time: Optional[str]
    window_end_time: Optional[str]
    window_days: List[int]
    window_hours: List[PostCampaignsReplyWindowHoursItem]
    holidays: List[str]
    contact_timezone: Literal["campaign", "number"]
    retry_attempts: int
    retry_delays: List[int]
    retry_window_days: int
    retry_on: List[Literal["busy", "no_answer", "failed", "machine"]]
    notify_url: Optional[str]
    pool_rotation_strategy: Literal["round_robin", "least_used", "random"]
    pool_max_calls_per_number: Optional[int]
    pool_max_calls_per_day: Optional[int]
    pool_cooldown_seconds: int
    max_abandoned_percent: Optional[float]


class PostCampaignsBody(_PostCampaignsBodyRequired, _PostCampaignsBodyOptional):
    pass


class GetCampaignsQuery(TypedDict, total=False):
    limit: Text
    offset: Text
    archived: Text


class GetCampaignsReply(TypedDict):
    objects: List[PostCampaignsReply]
    total: int


class PutCampaignsByCampaignIdBody(TypedDict, total=False):
    name: str
    agent_id: str
    max_concurrent: int
    timezone: str
    caller_id_strategy: Literal["fixed", "per_contact", "pool"]
    fixed_caller_id: Optional[str]
    cps: float
    scheduled_at: Optional[str]
    expires_at: Optional[str]
    window_enabled: bool
    window_start_time: Optional[str]
    window_end_time: Optional[str]
    window_days: List[int]
    window_hours: List[PostCampaignsReplyWindowHoursItem]
    holidays: List[str]
    contact_timezone: Literal["campaign", "number"]
    retry_attempts: int
    retry_delays: List[int]
    retry_window_days: int
    retry_on: List[Literal["busy", "no_answer", "failed", "machine"]]
    notify_url: Optional[str]
    pool_rotation_strategy: Literal["round_robin", "least_used", "random"]
    pool_max_calls_per_number: Optional[int]
    pool_max_calls_per_day: Optional[int]
    pool_cooldown_seconds: int
    max_abandoned_percent: Optional[float]
    clear_schedule: bool


class PostCampaignsByCampaignIdScheduleBody(TypedDict):
    scheduled_at: Optional[str]


class PostCampaignsByCampaignIdCloneBody(TypedDict, total=False):
    name: str


class PostCampaignsByCampaignIdUploadReplyErrorsItem(TypedDict):
    row_number: int
    reason: str


class PostCampaignsByCampaignIdUploadReply(TypedDict):
    valid_contacts: int
    invalid_rows: int
    total_rows: int
    custom_headers_detected: List[str]
    errors: List[PostCampaignsByCampaignIdUploadReplyErrorsItem]


class GetCampaignsByCampaignIdContactsQuery(TypedDict, total=False):
    limit: Text
    offset: Text
    status: Optional[Literal["pending", "dialling", "answered", "no_answer", "busy", "failed", "retry_pending", "expired"]]
    search: Text


class GetCampaignsByCampaignIdContactsReplyObjectsItem(TypedDict):
    id: int
    row_number: int
    to_number: str
    from_number: Optional[str]
    answer_url: Optional[str]
    hangup_url: Optional[str]
    sip_headers: Dict[str, str]
    timezone: Optional[str]
    status: str
    reason: Optional[str]
    attempts: int
    next_attempt_at: Optional[str]
    first_dial_at: Optional[str]
    call_uuid: Optional[str]


class GetCampaignsByCampaignIdContactsReply(TypedDict):
    objects: List[GetCampaignsByCampaignIdContactsReplyObjectsItem]
    total: int


class GetCampaignsByCampaignIdCallsQuery(TypedDict, total=False):
    page: Text
    per_page: Text


class GetCampaignsByCampaignIdCallsReplyObjectsItem(TypedDict):
    call_uuid: str
    campaign_id: str
    contact_id: int
    row_number: int
    attempt_number: int
    to_number: str
    from_number: Optional[str]
    status: str
    placed_at: str
    answered_at: Optional[str]
    ended_at: Optional[str]
    duration: int
    hangup_cause: Optional[str]
    hangup_cause_code: Optional[int]
    machine: Optional[bool]


class GetCampaignsByCampaignIdCallsReply(TypedDict):
    objects: List[GetCampaignsByCampaignIdCallsReplyObjectsItem]
    total: int
    page: int
    per_page: int
    total_pages: int


class PostCampaignsByCampaignIdPoolReplyAddedItem(TypedDict):
    id: str
    from_number: str
    label: str
    total_calls: int
    last_used_at: Optional[str]


class PostCampaignsByCampaignIdPoolReply(TypedDict):
    added: List[PostCampaignsByCampaignIdPoolReplyAddedItem]


class _PostCampaignsByCampaignIdPoolBodyNumbersItemRequired(TypedDict):
    from_number: str


class _PostCampaignsByCampaignIdPoolBodyNumbersItemOptional(TypedDict, total=False):
    label: str


class PostCampaignsByCampaignIdPoolBodyNumbersItem(_PostCampaignsByCampaignIdPoolBodyNumbersItemRequired, _PostCampaignsByCampaignIdPoolBodyNumbersItemOptional):
    pass


class PostCampaignsByCampaignIdPoolBody(TypedDict):
    numbers: List[PostCampaignsByCampaignIdPoolBodyNumbersItem]


class GetCampaignsByCampaignIdPoolReply(TypedDict):
    objects: List[PostCampaignsByCampaignIdPoolReplyAddedItem]
    total: int


class PutCampaignsByCampaignIdPoolByNumberIdBody(TypedDict, total=False):
    from_number: str
    label: str


class PostDoNotCallReply(TypedDict):
    added: int


class PostDoNotCallBody(TypedDict):
    numbers: List[str]


class GetDoNotCallQuery(TypedDict, total=False):
    limit: Text
    offset: Text
    search: Text


class GetDoNotCallReplyObjectsItem(TypedDict):
    number: str
    added_at: str


class GetDoNotCallReply(TypedDict):
    objects: List[GetDoNotCallReplyObjectsItem]
    total: int


class PostPartnerAccountsByCustomerAuthIdConcurrencyTransferReply(TypedDict):
    success: bool
    slots: int
    resource: str
    from_account: str
    to_account: str
    transfer_reference: str
    partner_remaining: int
    customer_effective: int
    message: str


class _PostPartnerAccountsByCustomerAuthIdConcurrencyTransferBodyRequired(TypedDict):
    slots: int


class _PostPartnerAccountsByCustomerAuthIdConcurrencyTransferBodyOptional(TypedDict, total=False):
    resource: Literal["concurrent_calls", "cps"]
    description: str


class PostPartnerAccountsByCustomerAuthIdConcurrencyTransferBody(_PostPartnerAccountsByCustomerAuthIdConcurrencyTransferBodyRequired, _PostPartnerAccountsByCustomerAuthIdConcurrencyTransferBodyOptional):
    pass


class GetPartnerAccountsByCustomerAuthIdConcurrencyReply(TypedDict):
    partner_auth_id: str
    customer_auth_id: str
    partner_concurrent_calls_limit: int
    customer_concurrent_calls_limit: int
    net_concurrent_calls_allocated: int
    partner_cps_limit: int
    customer_cps_limit: int
    net_cps_allocated: int


class GetPartnerConcurrencyTransfersReplyTransfersItem(TypedDict):
    transfer_reference: str
    operation: str
    resource: str
    slots: int
    from_account: str
    to_account: str
    description: str
    partner_remaining: int
    customer_effective: int
    created_at: str


class GetPartnerConcurrencyTransfersReply(TypedDict):
    transfers: List[GetPartnerConcurrencyTransfersReplyTransfersItem]
    total: int
    limit: int
    offset: int


class PostAccountsByAuthIdSubAccountsReplySubAccount(TypedDict):
    id: str
    auth_id: str
    parent_account_id: str
    parent_auth_id: str
    name: str
    email: str
    phone: str
    description: str
    permissions: Dict[str, bool]
    rate_limit: int
    enabled: bool
    is_active: bool
    email_verified: bool
    account: str
    resource_uri: str
    created: str
    modified: str
    created_at: str
    updated_at: str
    auth_token: str


class PostAccountsByAuthIdSubAccountsReplyAuthCredentials(TypedDict):
    auth_id: str
    auth_token: str


class PostAccountsByAuthIdSubAccountsReply(TypedDict):
    message: str
    sub_account: PostAccountsByAuthIdSubAccountsReplySubAccount
    auth_credentials: PostAccountsByAuthIdSubAccountsReplyAuthCredentials
    tokens: PostAccessTokenReply


class PostAccountsByAuthIdSubAccountsBodyPermissions(TypedDict, total=False):
    calls: bool
    cdr: bool
    recordings: bool
    applications: bool
    endpoints: bool
    balance: bool
    numbers: bool
    trunks: bool
    conferences: bool
    campaigns: bool
    refer: bool


class _PostAccountsByAuthIdSubAccountsBodyRequired(TypedDict):
    name: str


class _PostAccountsByAuthIdSubAccountsBodyOptional(TypedDict, total=False):
    email: str
    phone: str
    description: str
    enabled: bool
    permissions: PostAccountsByAuthIdSubAccountsBodyPermissions
    rate_limit: Optional[int]


class PostAccountsByAuthIdSubAccountsBody(_PostAccountsByAuthIdSubAccountsBodyRequired, _PostAccountsByAuthIdSubAccountsBodyOptional):
    pass


class GetAccountsByAuthIdSubAccountsQuery(TypedDict, total=False):
    page: Text
    size: Text


class GetAccountsByAuthIdSubAccountsReplySubAccountsItem(TypedDict):
    id: str
    auth_id: str
    parent_account_id: str
    parent_auth_id: str
    name: str
    email: str
    phone: str
    description: str
    permissions: Dict[str, bool]
    rate_limit: int
    enabled: bool
    is_active: bool
    email_verified: bool
    account: str
    resource_uri: str
    created: str
    modified: str
    created_at: str
    updated_at: str


class GetAccountsByAuthIdSubAccountsReply(TypedDict):
    sub_accounts: List[GetAccountsByAuthIdSubAccountsReplySubAccountsItem]
    total: int
    page: int
    size: int


class PutAccountsByAuthIdSubAccountsBySubAuthIdBody(TypedDict, total=False):
    name: str
    email: str
    phone: str
    description: str
    enabled: bool
    permissions: PostAccountsByAuthIdSubAccountsBodyPermissions
    rate_limit: Optional[int]


class DeleteAccountsByAuthIdSubAccountsBySubAuthIdReply(TypedDict):
    message: str


class PostSubaccountReply(TypedDict):
    api_id: str
    auth_id: str
    auth_token: str
    message: str


class _GetSubaccountReplyObjectsItemRequired(TypedDict):
    account: str
    auth_id: str
    auth_token: str
    created: str
    modified: str
    enabled: bool
    name: str
    resource_uri: str


class _GetSubaccountReplyObjectsItemOptional(TypedDict, total=False):
    api_id: str


class GetSubaccountReplyObjectsItem(_GetSubaccountReplyObjectsItemRequired, _GetSubaccountReplyObjectsItemOptional):
    pass


class GetSubaccountReply(TypedDict):
    api_id: str
    meta: GetEndpointReplyMeta
    objects: List[GetSubaccountReplyObjectsItem]


class PostAdminV1AccountsReply(TypedDict):
    auth_token: str
    auth_id: str
    name: str
    parent_auth_id: Optional[str]
    status: str
    currency: str
    country: str
    timezone: str
    concurrent_calls_limit: int
    cps_limit: int
    is_partner: bool
    partner_auth_id: Optional[str]
    limit_transfer_enabled: bool
    barred_prefixes: List[str]
    barred_countries: List[str]
    daily_spend_limit: Optional[float]
    default_endpoint_app: Optional[int]
    default_caller_id: Optional[str]
    low_balance_url: Optional[str]
    low_balance_email: Optional[str]
    email: str
    phone: str
    description: str
    cdr_retention_days: Optional[int]
    recording_retention_days: Optional[int]
    created_at: str
    updated_at: str
    balances: List[GetBalanceByCurrencyReply]


class _PostAdminV1AccountsBodyRequired(TypedDict):
    name: str


class _PostAdminV1AccountsBodyOptional(TypedDict, total=False):
    currency: str
    concurrent_calls_limit: int
    cps_limit: int
    country: str
    timezone: str
    credit_limit: float
    credit_limit_type: Literal["soft", "hard"]
    is_postpaid: bool
    low_balance_threshold: float
    low_balance_url: Optional[str]
    low_balance_email: Optional[str]
    status: Literal["active", "suspended", "closed"]
    is_partner: bool
    partner_auth_id: Optional[str]
    limit_transfer_enabled: bool
    barred_prefixes: List[str]
    barred_countries: List[str]
    daily_spend_limit: Optional[float]
    default_endpoint_app: Optional[int]
    default_caller_id: Optional[str]
    email: str
    phone: str
    description: str
    cdr_retention_days: Optional[int]
    recording_retention_days: Optional[int]


class PostAdminV1AccountsBody(_PostAdminV1AccountsBodyRequired, _PostAdminV1AccountsBodyOptional):
    pass


class GetAdminV1AccountsQuery(TypedDict, total=False):
    limit: Text
    offset: Text
    parent: Text
    search: Text


class GetAdminV1AccountsReplyAccountsItem(TypedDict):
    auth_id: str
    name: str
    parent_auth_id: Optional[str]
    status: str
    currency: str
    country: str
    timezone: str
    concurrent_calls_limit: int
    cps_limit: int
    is_partner: bool
    partner_auth_id: Optional[str]
    limit_transfer_enabled: bool
    barred_prefixes: List[str]
    barred_countries: List[str]
    daily_spend_limit: Optional[float]
    default_endpoint_app: Optional[int]
    default_caller_id: Optional[str]
    low_balance_url: Optional[str]
    low_balance_email: Optional[str]
    email: str
    phone: str
    description: str
    cdr_retention_days: Optional[int]
    recording_retention_days: Optional[int]
    created_at: str
    updated_at: str


class GetAdminV1AccountsReply(TypedDict):
    meta: GetTrunksReplyMeta
    accounts: List[GetAdminV1AccountsReplyAccountsItem]


class GetAdminV1AccountsByAuthIdReply(TypedDict):
    auth_id: str
    name: str
    parent_auth_id: Optional[str]
    status: str
    currency: str
    country: str
    timezone: str
    concurrent_calls_limit: int
    cps_limit: int
    is_partner: bool
    partner_auth_id: Optional[str]
    limit_transfer_enabled: bool
    barred_prefixes: List[str]
    barred_countries: List[str]
    daily_spend_limit: Optional[float]
    default_endpoint_app: Optional[int]
    default_caller_id: Optional[str]
    low_balance_url: Optional[str]
    low_balance_email: Optional[str]
    email: str
    phone: str
    description: str
    cdr_retention_days: Optional[int]
    recording_retention_days: Optional[int]
    created_at: str
    updated_at: str
    balances: List[GetBalanceByCurrencyReply]


class PatchAdminV1AccountsByAuthIdBody(TypedDict, total=False):
    name: str
    concurrent_calls_limit: int
    cps_limit: int
    country: str
    timezone: str
    credit_limit: float
    credit_limit_type: Literal["soft", "hard"]
    is_postpaid: bool
    low_balance_threshold: float
    low_balance_url: Optional[str]
    low_balance_email: Optional[str]
    status: Literal["active", "suspended", "closed"]
    is_partner: bool
    partner_auth_id: Optional[str]
    limit_transfer_enabled: bool
    barred_prefixes: List[str]
    barred_countries: List[str]
    daily_spend_limit: Optional[float]
    default_endpoint_app: Optional[int]
    default_caller_id: Optional[str]
    email: str
    phone: str
    description: str
    cdr_retention_days: Optional[int]
    recording_retention_days: Optional[int]


class PostAdminV1AccountsByAuthIdBalancesBody(TypedDict):
    currency: str


class PatchAdminV1AccountsByAuthIdBalancesByCurrencyBody(TypedDict, total=False):
    credit_limit: float
    credit_limit_type: Literal["soft", "hard"]
    is_postpaid: bool
    low_balance_threshold: float


class PostAdminV1AccountsByAuthIdCreditReply(TypedDict):
    transaction: GetTransactionsReplyTransactionsItem
    balance: GetBalanceByCurrencyReply


class _PostAdminV1AccountsByAuthIdCreditBodyRequired(TypedDict):
    amount: float
    currency: str
    description: str


class _PostAdminV1AccountsByAuthIdCreditBodyOptional(TypedDict, total=False):
    reference_type: str
    promotional: bool
    key: str


class PostAdminV1AccountsByAuthIdCreditBody(_PostAdminV1AccountsByAuthIdCreditBodyRequired, _PostAdminV1AccountsByAuthIdCreditBodyOptional):
    pass


class PostAdminV1AccountsByAuthIdTokenReply(TypedDict):
    auth_id: str
    auth_token: str
    overlap_seconds: int


class GetAdminV1AccountsByAuthIdCallerIdsReply(TypedDict):
    caller_ids: List[GetCallerIdsReplyCallerIdsItem]


class GetAdminV1AccountsByAuthIdTransactionsQuery(TypedDict, total=False):
    page: Text
    per_page: Text
    from_date: Text
    to_date: Text
    type: Text
    status: Text
    currency: Text
    reference_type: Text
    reference: Text
    description: Text


class _PostAdminV1NumbersBodyRequired(TypedDict):
    e164: str
    country: str
    currency: str


class _PostAdminV1NumbersBodyOptional(TypedDict, total=False):
    region: str
    setup_fee: float
    monthly_fee: float
    carrier: str
    account_id: str


class PostAdminV1NumbersBody(_PostAdminV1NumbersBodyRequired, _PostAdminV1NumbersBodyOptional):
    pass


class GetAdminV1NumbersQuery(TypedDict, total=False):
    limit: Text
    offset: Text
    account_id: Text
    status: Optional[Literal["available", "active", "suspended", "pending_release", "released", "blocked"]]
    country: Text
    search: Text


class GetAdminV1NumbersReply(TypedDict):
    meta: GetTrunksReplyMeta
    numbers: List[GetNumbersReplyItemsItem]


class GetAdminV1AccountsByAuthIdTrunksByTrunkIdReply(TypedDict):
    trunk_id: str
    egress_allow: List[str]
    identity: Literal["trusted", "untrusted", None]
    identity_header: Literal["pai", "rpid", "both", None]
    pass_headers: Optional[List[str]]
    add_headers: Dict[str, str]
    remove_headers: List[str]
    large_over_tcp: bool
    delayed_offer: bool
    refer: bool


class PatchAdminV1AccountsByAuthIdTrunksByTrunkIdBody(TypedDict, total=False):
    egress_allow: List[str]
    identity: Literal["trusted", "untrusted", None]
    identity_header: Literal["pai", "rpid", "both", None]
    pass_headers: Optional[List[str]]
    add_headers: Optional[Dict[str, str]]
    remove_headers: Optional[List[str]]
    large_over_tcp: bool
    delayed_offer: bool
    refer: bool


class _GetAdminV1MediaPoliciesReplyPoliciesItemRequired(TypedDict):
    subject: str
    name: str


class _GetAdminV1MediaPoliciesReplyPoliciesItemOptional(TypedDict, total=False):
    srtp: str
    codecs: List[str]


class GetAdminV1MediaPoliciesReplyPoliciesItem(_GetAdminV1MediaPoliciesReplyPoliciesItemRequired, _GetAdminV1MediaPoliciesReplyPoliciesItemOptional):
    pass


class GetAdminV1MediaPoliciesReply(TypedDict):
    policies: List[GetAdminV1MediaPoliciesReplyPoliciesItem]


class PutAdminV1MediaPoliciesBySubjectByNameBody(TypedDict, total=False):
    srtp: Literal["off", "optional", "required"]
    codecs: List[Literal["OPUS", "G722", "PCMU", "PCMA", "L16", "CN"]]


class GetAdminV1UnreadableRowsReplyRowsItem(TypedDict):
    table: str
    key: str
    reason: str
    original: str
    found: str


class GetAdminV1UnreadableRowsReply(TypedDict):
    total: int
    rows: List[GetAdminV1UnreadableRowsReplyRowsItem]


class _GetAdminV1PersonalDataQueryRequired(TypedDict):
    number: Text


class _GetAdminV1PersonalDataQueryOptional(TypedDict, total=False):
    country: Text


class GetAdminV1PersonalDataQuery(_GetAdminV1PersonalDataQueryRequired, _GetAdminV1PersonalDataQueryOptional):
    pass


class GetAdminV1PersonalDataReply(TypedDict):
    number: str
    calls: int
    recordings: int
    contacts: int
    mentions: int
    transcriptions: int
    running_calls: int
    do_not_call_lists: int


class DeleteAdminV1PersonalDataReply(TypedDict):
    calls: int
    recordings: int
    contacts: int
    mentions: int


class PostAdminV1CarriersReplyAuth(TypedDict):
    username: str
    password: str
    register: bool


class PostAdminV1CarriersReplyRewriteItem(TypedDict):
    match: str
    replace: str


class _PostAdminV1CarriersReplyRequired(TypedDict):
    name: str
    host: str
    port: Optional[int]
    transport: str
    source_addresses: List[str]
    prefixes: List[str]
    strip: int
    prepend: str
    cps_limit: int
    concurrent_calls_limit: int
    secure: bool
    priority: int
    enabled: bool
    first_response_ms: Optional[int]
    answer_ms: Optional[int]
    failover_on: Optional[List[str]]
    max_redirects: Optional[int]
    probe: bool
    weight: Optional[int]
    windows: List[str]
    costs: Dict[str, float]
    rewrite: List[PostAdminV1CarriersReplyRewriteItem]
    stir: Literal["off", "verify", "refuse", "require", None]
    sign: bool
    identity: Literal["trusted", "untrusted", None]
    identity_header: Literal["pai", "rpid", "both", None]
    pass_headers: Optional[List[str]]
    add_headers: Dict[str, str]
    remove_headers: List[str]
    large_over_tcp: bool
    delayed_offer: bool
    refer: bool


class _PostAdminV1CarriersReplyOptional(TypedDict, total=False):
    auth: PostAdminV1CarriersReplyAuth


class PostAdminV1CarriersReply(_PostAdminV1CarriersReplyRequired, _PostAdminV1CarriersReplyOptional):
    pass


class _PostAdminV1CarriersBodyAuthRequired(TypedDict):
    username: str
    password: str


class _PostAdminV1CarriersBodyAuthOptional(TypedDict, total=False):
    register: bool


class PostAdminV1CarriersBodyAuth(_PostAdminV1CarriersBodyAuthRequired, _PostAdminV1CarriersBodyAuthOptional):
    pass


class _PostAdminV1CarriersBodyRequired(TypedDict):
    name: str
    host: str


class _PostAdminV1CarriersBodyOptional(TypedDict, total=False):
    identity: Literal["trusted", "untrusted", None]
    identity_header: Literal["pai", "rpid", "both", None]
    pass_headers: Optional[List[str]]
    add_headers: Optional[Dict[str, str]]
    remove_headers: Optional[List[str]]
    large_over_tcp: bool
    delayed_offer: bool
    refer: bool
    stir: Literal["off", "verify", "refuse", "require", None]
    sign: bool
    port: Optional[int]
    transport: Literal["udp", "tcp", "tls"]
    auth: Optional[PostAdminV1CarriersBodyAuth]
    source_addresses: List[str]
    prefixes: List[str]
    strip: int
    prepend: str
    cps_limit: int
    concurrent_calls_limit: int
    secure: bool
    priority: int
    enabled: bool
    first_response_ms: Optional[int]
    answer_ms: Optional[int]
    failover_on: Optional[List[str]]
    max_redirects: Optional[int]
    probe: bool
    weight: Optional[int]
    windows: Optional[List[str]]
    costs: Optional[Dict[str, float]]
    rewrite: Optional[List[PostAdminV1CarriersReplyRewriteItem]]


class PostAdminV1CarriersBody(_PostAdminV1CarriersBodyRequired, _PostAdminV1CarriersBodyOptional):
    pass


class _GetAdminV1CarriersReplyCarriersItemRequired(TypedDict):
    name: str
    host: str
    port: Optional[int]
    transport: str
    source_addresses: List[str]
    prefixes: List[str]
    strip: int
    prepend: str
    cps_limit: int
    concurrent_calls_limit: int
    secure: bool
    priority: int
    enabled: bool
    first_response_ms: Optional[int]
    answer_ms: Optional[int]
    failover_on: Optional[List[str]]
    max_redirects: Optional[int]
    probe: bool
    weight: Optional[int]
    windows: List[str]
    costs: Dict[str, float]
    rewrite: List[PostAdminV1CarriersReplyRewriteItem]
    stir: Literal["off", "verify", "refuse", "require", None]
    sign: bool
    identity: Literal["trusted", "untrusted", None]
    identity_header: Literal["pai", "rpid", "both", None]
    pass_headers: Optional[List[str]]
    add_headers: Dict[str, str]
    remove_headers: List[str]
    large_over_tcp: bool
    delayed_offer: bool
    refer: bool
    up: Optional[bool]
    registered: Optional[bool]


class _GetAdminV1CarriersReplyCarriersItemOptional(TypedDict, total=False):
    auth: PostAdminV1CarriersReplyAuth


class GetAdminV1CarriersReplyCarriersItem(_GetAdminV1CarriersReplyCarriersItemRequired, _GetAdminV1CarriersReplyCarriersItemOptional):
    pass


class GetAdminV1CarriersReply(TypedDict):
    carriers: List[GetAdminV1CarriersReplyCarriersItem]


class _PostAdminV1CarriersByNameBodyRequired(TypedDict):
    host: str


class _PostAdminV1CarriersByNameBodyOptional(TypedDict, total=False):
    identity: Literal["trusted", "untrusted", None]
    identity_header: Literal["pai", "rpid", "both", None]
    pass_headers: Optional[List[str]]
    add_headers: Optional[Dict[str, str]]
    remove_headers: Optional[List[str]]
    large_over_tcp: bool
    delayed_offer: bool
    refer: bool
    stir: Literal["off", "verify", "refuse", "require", None]
    sign: bool
    port: Optional[int]
    transport: Literal["udp", "tcp", "tls"]
    auth: Optional[PostAdminV1CarriersBodyAuth]
    source_addresses: List[str]
    prefixes: List[str]
    strip: int
    prepend: str
    cps_limit: int
    concurrent_calls_limit: int
    secure: bool
    priority: int
    enabled: bool
    first_response_ms: Optional[int]
    answer_ms: Optional[int]
    failover_on: Optional[List[str]]
    max_redirects: Optional[int]
    probe: bool
    weight: Optional[int]
    windows: Optional[List[str]]
    costs: Optional[Dict[str, float]]
    rewrite: Optional[List[PostAdminV1CarriersReplyRewriteItem]]


class PostAdminV1CarriersByNameBody(_PostAdminV1CarriersByNameBodyRequired, _PostAdminV1CarriersByNameBodyOptional):
    pass


class PatchAdminV1CarriersByNameBody(TypedDict, total=False):
    host: str
    identity: Literal["trusted", "untrusted", None]
    identity_header: Literal["pai", "rpid", "both", None]
    pass_headers: Optional[List[str]]
    add_headers: Optional[Dict[str, str]]
    remove_headers: Optional[List[str]]
    large_over_tcp: bool
    delayed_offer: bool
    refer: bool
    stir: Literal["off", "verify", "refuse", "require", None]
    sign: bool
    port: Optional[int]
    transport: Literal["udp", "tcp", "tls"]
    auth: Optional[PostAdminV1CarriersBodyAuth]
    source_addresses: List[str]
    prefixes: List[str]
    strip: int
    prepend: str
    cps_limit: int
    concurrent_calls_limit: int
    secure: bool
    priority: int
    enabled: bool
    first_response_ms: Optional[int]
    answer_ms: Optional[int]
    failover_on: Optional[List[str]]
    max_redirects: Optional[int]
    probe: bool
    weight: Optional[int]
    windows: Optional[List[str]]
    costs: Optional[Dict[str, float]]
    rewrite: Optional[List[PostAdminV1CarriersReplyRewriteItem]]


class PostAdminV1RatesReply(TypedDict):
    direction: str
    prefix: str
    per_minute: float
    pulse_seconds: int
    currency: str
    account_id: Optional[str]


class _PostAdminV1RatesBodyRequired(TypedDict):
    direction: Literal["outbound", "inbound", "sip", "stream", "recording", "transcription", "number"]
    per_minute: float
    currency: str


class _PostAdminV1RatesBodyOptional(TypedDict, total=False):
    prefix: str
    pulse_seconds: int
    account_id: Optional[str]


class PostAdminV1RatesBody(_PostAdminV1RatesBodyRequired, _PostAdminV1RatesBodyOptional):
    pass


class GetAdminV1RatesReply(TypedDict):
    rates: List[PostAdminV1RatesReply]


class _DeleteAdminV1RatesQueryRequired(TypedDict):
    direction: Optional[Literal["outbound", "inbound", "sip", "stream", "recording", "transcription", "number"]]
    currency: Text


class _DeleteAdminV1RatesQueryOptional(TypedDict, total=False):
    prefix: Text
    account_id: Text


class DeleteAdminV1RatesQuery(_DeleteAdminV1RatesQueryRequired, _DeleteAdminV1RatesQueryOptional):
    pass


GetAdminV1RoutesQuery = TypedDict(
    "GetAdminV1RoutesQuery",
    {
        "account_id": Text,
        "from": Text,
        "to": Text,
    },
)


class GetAdminV1RoutesReplyCarriersItem(TypedDict):
    carrier: str
    rank: Optional[int]
    why: Optional[str]
    prefix: Optional[str]
    priority: int
    cost: Optional[float]
    weight: Optional[int]
    number: str


class GetAdminV1RoutesReply(TypedDict):
    to: str
    country: Optional[str]
    caller_id: Optional[str]
    per_minute: Optional[float]
    currency: Optional[str]
    refusal: Optional[str]
    carriers: List[GetAdminV1RoutesReplyCarriersItem]


GetAdminV1CallsReplyCallsItem = TypedDict(
    "GetAdminV1CallsReplyCallsItem",
    {
        "account_id": str,
        "call_uuid": str,
        "request_uuid": Optional[str],
        "call_status": str,
        "direction": str,
        "from": str,
        "to": str,
        "caller_name": str,
        "session_start": str,
        "start_time": str,
        "answer_time": Optional[str],
        "stir_verification": str,
        "stir_attestation": str,
    },
)


class GetAdminV1CallsReply(TypedDict):
    count: int
    calls: List[GetAdminV1CallsReplyCallsItem]


class _GetAdminV1CallsByCallUuidReplyRequired(TypedDict):
    call_uuid: str
    live: bool
    log: List[GetCallByCallUuidLogReplyLogItem]


class _GetAdminV1CallsByCallUuidReplyOptional(TypedDict, total=False):
    call: GetAdminV1CallsReplyCallsItem


class GetAdminV1CallsByCallUuidReply(_GetAdminV1CallsByCallUuidReplyRequired, _GetAdminV1CallsByCallUuidReplyOptional):
    pass


class GetAdminV1CallsByCallUuidAccountReply(TypedDict):
    account_id: str


class GetAdminV1CallsByCallUuidMessagesQuery(TypedDict, total=False):
    format: Optional[Literal["json", "pcap", "text"]]


class GetAdminV1CallsByCallUuidQualityReply(TypedDict):
    call_uuid: str
    samples: List[GetCallByCallUuidQualitySamplesReplySamplesItem]


class _PostAdminV1ImportByKindReplyRowsItemRequired(TypedDict):
    line: int
    ok: bool
    result: str


class _PostAdminV1ImportByKindReplyRowsItemOptional(TypedDict, total=False):
    auth_token: str


class PostAdminV1ImportByKindReplyRowsItem(_PostAdminV1ImportByKindReplyRowsItemRequired, _PostAdminV1ImportByKindReplyRowsItemOptional):
    pass


class PostAdminV1ImportByKindReply(TypedDict):
    dry_run: bool
    done: int
    refused: int
    rows: List[PostAdminV1ImportByKindReplyRowsItem]


class PostAdminV1ImportByKindBodyRowsItem(TypedDict):
    line: int
    cells: Dict[str, Union[str, float, bool]]


class _PostAdminV1ImportByKindBodyRequired(TypedDict):
    rows: List[PostAdminV1ImportByKindBodyRowsItem]


class _PostAdminV1ImportByKindBodyOptional(TypedDict, total=False):
    dry_run: bool


class PostAdminV1ImportByKindBody(_PostAdminV1ImportByKindBodyRequired, _PostAdminV1ImportByKindBodyOptional):
    pass


class _GetAdminV1StatusReplyPartsItemRequired(TypedDict):
    part: str
    ready: bool
    detail: str


class _GetAdminV1StatusReplyPartsItemOptional(TypedDict, total=False):
    count: int


class GetAdminV1StatusReplyPartsItem(_GetAdminV1StatusReplyPartsItemRequired, _GetAdminV1StatusReplyPartsItemOptional):
    pass


class GetAdminV1StatusReply(TypedDict):
    version: str
    started_at: str
    uptime_seconds: int
    draining: bool
    calls_active: int
    calls_limit: int
    calls_per_second: float
    registrations: int
    parts: List[GetAdminV1StatusReplyPartsItem]


class GetAdminV1RegistrationsReplyRegistrationsItem(TypedDict):
    username: str
    contact_uri: str
    transport: str
    address: str
    port: int
    user_agent: str
    expires_at: str


class GetAdminV1RegistrationsReply(TypedDict):
    count: int
    registrations: List[GetAdminV1RegistrationsReplyRegistrationsItem]


class PostAdminV1DrainReply(TypedDict):
    draining: bool


class PostAdminV1ReloadReply(TypedDict):
    changed: List[str]
    needs_restart: List[str]
    rates: int
    carriers: int


class PostAdminV1BackupReply(TypedDict):
    path: str
    bytes: int


class GetAdminV1BackupReply(TypedDict):
    running: bool
    bytes: int
    total_bytes: int


class PostAdminV1VerifyReplyFaultsItem(TypedDict):
    balance_id: str
    account_id: str
    currency: str
    balance_micros: int
    sum_of_entries_micros: int
    sum_of_daily_totals_micros: int
    reserved_micros: int
    sum_of_reservations_micros: int


class PostAdminV1VerifyReply(TypedDict):
    ok: bool
    faults: List[PostAdminV1VerifyReplyFaultsItem]


class GetAdminV1AlarmsReplyAlarmsItem(TypedDict):
    node: str
    kind: str
    subject: str
    detail: str
    since: str
    acknowledged_at: Optional[str]
    acknowledged_by: Optional[str]


class GetAdminV1AlarmsReply(TypedDict):
    alarms: List[GetAdminV1AlarmsReplyAlarmsItem]


class GetAdminV1AlarmsHistoryQuery(TypedDict, total=False):
    limit: Text
    offset: Text
    kind: Text
    search: Text


class GetAdminV1AlarmsHistoryReplyAlarmsItem(TypedDict):
    node: str
    kind: str
    subject: str
    detail: str
    since: str
    acknowledged_at: Optional[str]
    acknowledged_by: Optional[str]
    cleared_at: str


class GetAdminV1AlarmsHistoryReply(TypedDict):
    alarms: List[GetAdminV1AlarmsHistoryReplyAlarmsItem]
    total: int


class _PostAdminV1AlarmsAcknowledgeBodyRequired(TypedDict):
    kind: str
    subject: str


class _PostAdminV1AlarmsAcknowledgeBodyOptional(TypedDict, total=False):
    node: str


class PostAdminV1AlarmsAcknowledgeBody(_PostAdminV1AlarmsAcknowledgeBodyRequired, _PostAdminV1AlarmsAcknowledgeBodyOptional):
    pass


class GetAdminV1SettingsReplySettingsItem(TypedDict):
    name: str
    description: str
    value: str
    default_value: str
    source: Literal["default", "file", "environment", "console"]
    place: str
    secret: bool
    live: bool
    next_value: Optional[str]


class GetAdminV1SettingsReply(TypedDict):
    settings: List[GetAdminV1SettingsReplySettingsItem]
    problems: List[str]


class GetAdminV1DoctorReplyFindingsItem(TypedDict):
    check: str
    verdict: Literal["ok", "warning", "problem", "skipped"]
    found: str
    advice: Optional[str]


class GetAdminV1DoctorReply(TypedDict):
    finished_at: Optional[str]
    findings: List[GetAdminV1DoctorReplyFindingsItem]


class GetAdminV1LogQuery(TypedDict, total=False):
    node: Text
    level: Optional[Literal["debug", "info", "warn", "error"]]
    call_uuid: Text
    search: Text
    after: Text
    limit: Text


class GetAdminV1LogReplyLinesItem(TypedDict):
    number: int
    time: str
    level: str
    message: str
    call_uuid: Optional[str]
    fields: str


class GetAdminV1LogReply(TypedDict):
    node: str
    lines: List[GetAdminV1LogReplyLinesItem]


class GetAdminV1HistoryQuery(TypedDict, total=False):
    period: Optional[Literal["6h", "24h", "7d", "30d"]]


class GetAdminV1HistoryReplyCallsItem(TypedDict):
    at: int
    value: float


class GetAdminV1HistoryReply(TypedDict):
    available: bool
    step_seconds: int
    calls: List[GetAdminV1HistoryReplyCallsItem]
    calls_per_second: List[GetAdminV1HistoryReplyCallsItem]


class GetAdminV1NodesReplyNodesItem(TypedDict):
    node: str
    epoch: int
    self: bool
    state: Literal["serving", "draining", "not_ready", "unreachable"]
    detail: str
    version: Optional[str]
    started_at: str
    calls_active: Optional[int]
    calls_limit: Optional[int]
    registrations: Optional[int]


class GetAdminV1NodesReply(TypedDict):
    nodes: List[GetAdminV1NodesReplyNodesItem]


class GetAdminV1UsersReplyUsersItem(TypedDict):
    user_id: str
    email: str
    role: str
    account_id: Optional[str]
    has_totp: bool
    created_at: str


class GetAdminV1UsersReply(TypedDict):
    users: List[GetAdminV1UsersReplyUsersItem]


class PostAdminV1UsersReply(TypedDict):
    link: str
    email: Optional[str]
    role: str
    account_id: Optional[str]
    expires_at: str


class _PostAdminV1UsersBodyRequired(TypedDict):
    role: Literal["owner", "operator", "developer", "viewer", "billing"]


class _PostAdminV1UsersBodyOptional(TypedDict, total=False):
    email: str
    account_id: str


class PostAdminV1UsersBody(_PostAdminV1UsersBodyRequired, _PostAdminV1UsersBodyOptional):
    pass


GetAdminV1AuditQuery = TypedDict(
    "GetAdminV1AuditQuery",
    {
        "limit": Text,
        "offset": Text,
        "who": Text,
        "what": Text,
        "from": Text,
        "to": Text,
    }, total=False,
)


class GetAdminV1AuditReplyEntriesItem(TypedDict):
    at: str
    who: str
    account_id: Optional[str]
    what: str
    method: str
    path: str
    status: int
    address: Optional[str]
    detail: Optional[str]


class GetAdminV1AuditReply(TypedDict):
    total: int
    entries: List[GetAdminV1AuditReplyEntriesItem]


#: Lists by path: how their pages are requested, and the member with the entries.
PAGES: Dict[str, Tuple[str, str]] = {
    "/api/v1/Account/{auth_id}/transactions": ("page", "transactions"),
    "/api/v1/Account/{auth_id}/webhooks": ("offset", "objects"),
    "/api/v1/Account/{auth_id}/Endpoint/": ("offset", "objects"),
    "/api/v1/Account/{auth_id}/Application/": ("offset", "objects"),
    "/api/v1/Account/{auth_id}/numbers": ("page", "items"),
    "/api/v1/Account/{auth_id}/inventory/numbers": ("page", "items"),
    "/v1/Account/{auth_id}/Number/": ("offset", "objects"),
    "/v1/Account/{auth_id}/PhoneNumber/": ("offset", "objects"),
    "/api/v1/Account/{auth_id}/trunks": ("offset", "objects"),
    "/api/v1/Account/{auth_id}/origination-uris": ("offset", "objects"),
    "/api/v1/Account/{auth_id}/trunks/origination-uris": ("offset", "objects"),
    "/api/v1/Account/{auth_id}/credentials": ("offset", "objects"),
    "/api/v1/Account/{auth_id}/trunks/credentials": ("offset", "objects"),
    "/api/v1/Account/{auth_id}/ip-acl": ("offset", "objects"),
    "/api/v1/Account/{auth_id}/trunks/ip-acl": ("offset", "objects"),
    "/api/v1/Account/{auth_id}/Call/{call_uuid}/Stream/": ("offset", "objects"),
    "/api/v1/Account/{auth_id}/MultiPartyCall/": ("offset", "objects"),
    "/api/v1/Account/{auth_id}/cdr": ("page", "data"),
    "/api/v1/Account/{auth_id}/cdr/search": ("page", "data"),
    "/api/v1/Account/{auth_id}/Recording/": ("offset", "objects"),
    "/api/v1/Account/{auth_id}/export/recording/": ("offset", "objects"),
    "/api/v1/account/{auth_id}/campaign/agents": ("offset", "objects"),
    "/api/v1/account/{auth_id}/campaigns": ("offset", "objects"),
    "/api/v1/account/{auth_id}/campaigns/{campaign_id}/contacts": ("offset", "objects"),
    "/api/v1/account/{auth_id}/campaigns/{campaign_id}/calls": ("page", "objects"),
    "/api/v1/account/{auth_id}/do-not-call": ("offset", "objects"),
    "/api/v1/partner/concurrency/transfers": ("offset", "transfers"),
    "/api/v1/accounts/{auth_id}/sub-accounts/": ("page", "sub_accounts"),
    "/api/v1/Account/{auth_id}/Subaccount/": ("offset", "objects"),
    "/admin/v1/accounts": ("offset", "accounts"),
    "/admin/v1/accounts/{auth_id}/transactions": ("page", "transactions"),
    "/admin/v1/numbers": ("offset", "numbers"),
    "/admin/v1/unreadable-rows": ("offset", "rows"),
    "/admin/v1/do-not-call": ("offset", "objects"),
    "/admin/v1/alarms/history": ("offset", "alarms"),
    "/admin/v1/audit": ("offset", "entries"),
}


class Api:
    """Methods of the client, typed by path."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/credentials-use"],
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetCredentialsUseReply:
        """Get the last use of the API credentials."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/auth/me"],
        *,
        timeout: Optional[float] = ...,
    ) -> GetAuthMeReply:
        """Get the account of the credentials."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/"],
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetReply:
        """Get the account details."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/account/{auth_id}/capacity"],
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetCapacityReply:
        """Get the current concurrency of the account."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/concurrency"],
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetConcurrencyReply:
        """Get the number of running calls and the limit."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/transactions"],
        *,
        query: Optional[GetTransactionsQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetTransactionsReply:
        """List ledger entries, with totals of the whole filtered set."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/transactions/reference-types"],
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetTransactionsReferenceTypesReply:
        """List the spend sources of the account."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/balance/{currency}"],
        *,
        auth_id: Optional[str] = ...,
        currency: str,
        timeout: Optional[float] = ...,
    ) -> GetBalanceByCurrencyReply:
        """Get the balance in one currency."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/low-balance-alert"],
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetLowBalanceAlertReply:
        """Get the low-balance alert settings."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/webhooks"],
        *,
        query: Optional[GetWebhooksQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetWebhooksReply:
        """List the latest requests to the URLs of the account, latest first. Up to 500 are kept for 7 days."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/webhooks/{delivery_id}"],
        *,
        auth_id: Optional[str] = ...,
        delivery_id: str,
        timeout: Optional[float] = ...,
    ) -> GetWebhooksByDeliveryIdReply:
        """Get a request with its bodies and the signed text."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Endpoint/"],
        *,
        query: Optional[GetEndpointQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetEndpointReply:
        """List SIP endpoints."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Endpoint/{endpoint_id}/"],
        *,
        auth_id: Optional[str] = ...,
        endpoint_id: str,
        timeout: Optional[float] = ...,
    ) -> GetEndpointReplyObjectsItem:
        """Get a SIP endpoint."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Application/"],
        *,
        query: Optional[GetApplicationQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetApplicationReply:
        """List applications."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Application/{app_id}/"],
        *,
        auth_id: Optional[str] = ...,
        app_id: str,
        timeout: Optional[float] = ...,
    ) -> GetApplicationReplyObjectsItem:
        """Get an application."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/numbers"],
        *,
        query: Optional[GetNumbersQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetNumbersReply:
        """List the numbers of the account."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/inventory/numbers"],
        *,
        query: Optional[GetInventoryNumbersQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetNumbersReply:
        """List the numbers that can be bought."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/numbers/{e164_number}"],
        *,
        auth_id: Optional[str] = ...,
        e164_number: str,
        timeout: Optional[float] = ...,
    ) -> GetNumbersReplyItemsItem:
        """Get a number of the account."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/numbers/{e164_number}/health"],
        *,
        auth_id: Optional[str] = ...,
        e164_number: str,
        timeout: Optional[float] = ...,
    ) -> GetNumbersByE164NumberHealthReply:
        """Check whether calls to the number reach an application or trunk."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/caller-ids"],
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetCallerIdsReply:
        """List the verified caller IDs that the account may present in addition to its numbers, and its default caller ID."""

    @overload
    def get(
        self,
        path: Literal["/v1/Account/{auth_id}/Number/"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetNumberReply:
        """List the numbers of the account (Plivo form)."""

    @overload
    def get(
        self,
        path: Literal["/v1/Account/{auth_id}/Number/{number}/"],
        *,
        auth_id: Optional[str] = ...,
        number: str,
        timeout: Optional[float] = ...,
    ) -> GetNumberByNumberReply:
        """Get a number of the account (Plivo form)."""

    @overload
    def get(
        self,
        path: Literal["/v1/Account/{auth_id}/PhoneNumber/"],
        *,
        query: GetPhoneNumberQuery,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetPhoneNumberReply:
        """List the numbers that can be bought (Plivo form)."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Pricing/"],
        *,
        query: GetPricingQuery,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetPricingReply:
        """Get the prices of calls and numbers of a country, in the account's currency (Plivo form)."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/trunks"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetTrunksReply:
        """List trunks."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/trunks/{trunk_id}"],
        *,
        auth_id: Optional[str] = ...,
        trunk_id: str,
        timeout: Optional[float] = ...,
    ) -> PostTrunksReply:
        """Get a trunk."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/origination-uris"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetOriginationUrisReply:
        """List origination URIs."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/trunks/origination-uris"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetOriginationUrisReply:
        """List origination URIs."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/origination-uris/{id}"],
        *,
        auth_id: Optional[str] = ...,
        id: str,
        timeout: Optional[float] = ...,
    ) -> PostOriginationUrisReply:
        """Get one origination URI."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/credentials"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetCredentialsReply:
        """List credentials."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/trunks/credentials"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetCredentialsReply:
        """List credentials."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/credentials/{id}"],
        *,
        auth_id: Optional[str] = ...,
        id: str,
        timeout: Optional[float] = ...,
    ) -> PostCredentialsReply:
        """Get one credential."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/ip-acl"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetIpAclReply:
        """List IP ACLs."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/trunks/ip-acl"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetIpAclReply:
        """List IP ACLs."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/ip-acl/{id}"],
        *,
        auth_id: Optional[str] = ...,
        id: str,
        timeout: Optional[float] = ...,
    ) -> PostIpAclReply:
        """Get one IP ACL."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/"],
        *,
        query: Optional[GetCallQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Any:
        """List the UUIDs of live or queued calls, or list finished calls."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/"],
        *,
        query: Optional[GetCallByCallUuidQuery] = ...,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> Any:
        """Get a live, queued or finished call."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/log"],
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> GetCallByCallUuidLogReply:
        """Get the timeline of a call: SIP messages, document steps, callbacks, media events."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/quality"],
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> GetCallByCallUuidQualityReply:
        """Get the current quality of an answered call, measured on the audio received from the other party."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/quality/samples"],
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> GetCallByCallUuidQualitySamplesReply:
        """Get quality samples of a call (initially every 5 s), also for a while after its end."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/Stream/"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> GetCallByCallUuidStreamReply:
        """List the streams of a live call."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/Stream/{stream_id}/"],
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        stream_id: str,
        timeout: Optional[float] = ...,
    ) -> GetCallByCallUuidStreamReplyObjectsItem:
        """Get a stream of a live call."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Conference/"],
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetConferenceReply:
        """List the names of running conferences."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Conference/{name}/"],
        *,
        auth_id: Optional[str] = ...,
        name: str,
        timeout: Optional[float] = ...,
    ) -> GetConferenceByNameReply:
        """Get a conference and its members."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/"],
        *,
        query: Optional[GetMultiPartyCallQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetMultiPartyCallReply:
        """List multi-party calls: running ones, then those that ended in the last week, latest first."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/"],
        *,
        auth_id: Optional[str] = ...,
        mpc_id: str,
        timeout: Optional[float] = ...,
    ) -> GetMultiPartyCallByMpcIdReply:
        """Get a running or ended multi-party call."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Participant/"],
        *,
        query: Optional[GetMultiPartyCallByMpcIdParticipantQuery] = ...,
        auth_id: Optional[str] = ...,
        mpc_id: str,
        timeout: Optional[float] = ...,
    ) -> GetMultiPartyCallByMpcIdParticipantReply:
        """List the members of a multi-party call: current members first, then those who left."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Participant/{participant_id}/"],
        *,
        auth_id: Optional[str] = ...,
        mpc_id: str,
        participant_id: str,
        timeout: Optional[float] = ...,
    ) -> GetMultiPartyCallByMpcIdParticipantByParticipantIdReply:
        """Get a member of a multi-party call."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/cdr"],
        *,
        query: Optional[GetCdrQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetCdrReply:
        """List call records, latest first."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/cdr/search"],
        *,
        query: Optional[GetCdrQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetCdrSearchReply:
        """List call records; the response repeats the filters."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/cdr/recent"],
        *,
        query: Optional[GetCdrRecentQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetCdrRecentReply:
        """List the latest call records."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/cdr/{call_uuid}"],
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> GetCdrByCallUuidReply:
        """Get a call record, with voice and stream charges as separate lines."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/cdr/{call_uuid}"],
        *,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> GetCdrByCallUuidReply:
        """Get a call record of the account in the credentials."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/cdr/page"],
        *,
        query: Optional[GetCdrPageQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetCdrPageReply:
        """List call records, latest first, by cursor and without totals. A request examines up to 50,000 records; `next_cursor` continues."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/cdr/hourly"],
        *,
        query: Optional[GetCdrHourlyQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetCdrHourlyReply:
        """Get calls, answers, answered seconds and charges of each of the last hours."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Recording/"],
        *,
        query: Optional[GetRecordingQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetRecordingReply:
        """List recordings, latest first."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Recording/{recording_id}/"],
        *,
        auth_id: Optional[str] = ...,
        recording_id: str,
        timeout: Optional[float] = ...,
    ) -> GetRecordingReplyObjectsItem:
        """Get a recording."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Transcription/{transcription_id}/"],
        *,
        auth_id: Optional[str] = ...,
        transcription_id: str,
        timeout: Optional[float] = ...,
    ) -> GetTranscriptionByTranscriptionIdReply:
        """Get the transcription of a recording."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Recording/{recording_id}/transcriptions"],
        *,
        auth_id: Optional[str] = ...,
        recording_id: str,
        timeout: Optional[float] = ...,
    ) -> GetRecordingByRecordingIdTranscriptionsReply:
        """List the transcriptions of a recording, oldest first."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/export/recording/"],
        *,
        query: Optional[GetExportRecordingQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetExportRecordingReply:
        """List exports, newest first, with state, progress, and download link when done."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/export/recording/{export_id}/"],
        *,
        auth_id: Optional[str] = ...,
        export_id: str,
        timeout: Optional[float] = ...,
    ) -> GetExportRecordingByExportIdReply:
        """Get an export."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/usage"],
        *,
        query: Optional[GetUsageQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetUsageReply:
        """Get calls, minutes and amounts by day or month, from records and ledger."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/invoices/{month}"],
        *,
        query: Optional[GetInvoicesByMonthQuery] = ...,
        auth_id: Optional[str] = ...,
        month: str,
        timeout: Optional[float] = ...,
    ) -> GetInvoicesByMonthReply:
        """Get the invoice of a month, from the ledger. One currency, by default that of the account."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/accounts/{auth_id}/usage"],
        *,
        query: Optional[GetUsageQuery] = ...,
        auth_id: str,
        timeout: Optional[float] = ...,
    ) -> GetUsageReply:
        """Get calls, minutes and amounts by day or month, from records and ledger."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/accounts/{auth_id}/invoices/{month}"],
        *,
        query: Optional[GetInvoicesByMonthQuery] = ...,
        auth_id: str,
        month: str,
        timeout: Optional[float] = ...,
    ) -> GetInvoicesByMonthReply:
        """Get the invoice of a month, from the ledger. One currency, by default that of the account."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaign/agents"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetCampaignAgentsReply:
        """List agents."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaign/agents/{agent_id}"],
        *,
        auth_id: Optional[str] = ...,
        agent_id: str,
        timeout: Optional[float] = ...,
    ) -> PostCampaignAgentsReply:
        """Get an agent."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns"],
        *,
        query: Optional[GetCampaignsQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetCampaignsReply:
        """List campaigns, latest first."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}"],
        *,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        timeout: Optional[float] = ...,
    ) -> PostCampaignsReply:
        """Get the status, health, counters and pause reason of a campaign."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/contacts"],
        *,
        query: Optional[GetCampaignsByCampaignIdContactsQuery] = ...,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        timeout: Optional[float] = ...,
    ) -> GetCampaignsByCampaignIdContactsReply:
        """List the contacts and their statuses, in the order of the list."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/calls"],
        *,
        query: Optional[GetCampaignsByCampaignIdCallsQuery] = ...,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        timeout: Optional[float] = ...,
    ) -> GetCampaignsByCampaignIdCallsReply:
        """List all attempts, latest first, including those without a call record."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/call-lookup/{call_uuid}"],
        *,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> GetCampaignsByCampaignIdCallsReplyObjectsItem:
        """Get the campaign and contact of a call."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/account/{auth_id}/call-lookup/{call_uuid}"],
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> GetCampaignsByCampaignIdCallsReplyObjectsItem:
        """Get the campaign and contact of a call, for any campaign."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/pool"],
        *,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        timeout: Optional[float] = ...,
    ) -> GetCampaignsByCampaignIdPoolReply:
        """List the numbers of the pool and how often each was used."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/account/{auth_id}/do-not-call"],
        *,
        query: Optional[GetDoNotCallQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetDoNotCallReply:
        """List the numbers that campaigns of the account must not call, in ascending order."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/partner/accounts/{customer_auth_id}/concurrency"],
        *,
        customer_auth_id: str,
        timeout: Optional[float] = ...,
    ) -> GetPartnerAccountsByCustomerAuthIdConcurrencyReply:
        """Get the allocation to a customer and the limits of both accounts."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/partner/concurrency/transfers"],
        *,
        query: Optional[GetNumberQuery] = ...,
        timeout: Optional[float] = ...,
    ) -> GetPartnerConcurrencyTransfersReply:
        """List transfers and reclaims, newest first."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/accounts/{auth_id}/sub-accounts/"],
        *,
        query: Optional[GetAccountsByAuthIdSubAccountsQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetAccountsByAuthIdSubAccountsReply:
        """List sub-accounts."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/accounts/{auth_id}/sub-accounts/{sub_auth_id}"],
        *,
        auth_id: Optional[str] = ...,
        sub_auth_id: str,
        timeout: Optional[float] = ...,
    ) -> GetAccountsByAuthIdSubAccountsReplySubAccountsItem:
        """Get a sub-account."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Subaccount/"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetSubaccountReply:
        """List sub-accounts (Plivo form)."""

    @overload
    def get(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Subaccount/{sub_auth_id}/"],
        *,
        auth_id: Optional[str] = ...,
        sub_auth_id: str,
        timeout: Optional[float] = ...,
    ) -> GetSubaccountReplyObjectsItem:
        """Get a sub-account (Plivo form)."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/accounts"],
        *,
        query: Optional[GetAdminV1AccountsQuery] = ...,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1AccountsReply:
        """List main accounts, or the sub-accounts of one."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/accounts/{auth_id}"],
        *,
        auth_id: str,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1AccountsByAuthIdReply:
        """Get an account with its balances."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/accounts/{auth_id}/caller-ids"],
        *,
        auth_id: str,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1AccountsByAuthIdCallerIdsReply:
        """List verified caller IDs."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/accounts/{auth_id}/transactions"],
        *,
        query: Optional[GetAdminV1AccountsByAuthIdTransactionsQuery] = ...,
        auth_id: str,
        timeout: Optional[float] = ...,
    ) -> GetTransactionsReply:
        """List the ledger entries of an account, newest first, with totals of the whole filtered set."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/numbers"],
        *,
        query: Optional[GetAdminV1NumbersQuery] = ...,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1NumbersReply:
        """List all numbers of the service."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/accounts/{auth_id}/trunks/{trunk_id}"],
        *,
        auth_id: str,
        trunk_id: str,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1AccountsByAuthIdTrunksByTrunkIdReply:
        """Get the header and identity policy of a trunk."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/media-policies"],
        *,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1MediaPoliciesReply:
        """List the media policies: codecs and SRTP of accounts, endpoints, trunks and carriers that override the settings."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/unreadable-rows"],
        *,
        query: Optional[GetNumberQuery] = ...,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1UnreadableRowsReply:
        """List database rows that could not be read and are skipped, latest first."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/personal-data"],
        *,
        query: GetAdminV1PersonalDataQuery,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1PersonalDataReply:
        """Count the records that contain a telephone number, in all accounts."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/carriers"],
        *,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1CarriersReply:
        """List SIP gateways."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/carriers/{name}"],
        *,
        name: str,
        timeout: Optional[float] = ...,
    ) -> PostAdminV1CarriersReply:
        """Get a SIP gateway."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/rates"],
        *,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1RatesReply:
        """List the rates in force, including those in the price list file."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/routes"],
        *,
        query: GetAdminV1RoutesQuery,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1RoutesReply:
        """Test the routing of a call to a number, without placing a call."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/do-not-call"],
        *,
        query: Optional[GetDoNotCallQuery] = ...,
        timeout: Optional[float] = ...,
    ) -> GetDoNotCallReply:
        """List the numbers that campaigns of all accounts must not call, in ascending order."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/calls"],
        *,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1CallsReply:
        """List live and queued calls of all accounts."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/calls/{call_uuid}"],
        *,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1CallsByCallUuidReply:
        """Get a call and its timeline, also for a while after its end."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/calls/{call_uuid}/account"],
        *,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1CallsByCallUuidAccountReply:
        """Get the account of a running or finished call."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/calls/{call_uuid}/messages"],
        *,
        query: Optional[GetAdminV1CallsByCallUuidMessagesQuery] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> Any:
        """Get the SIP messages of a call and its related legs, oldest first, with passwords, tokens and media keys masked. `format` or Accept selects JSON, a pcap file for Wireshark, or a text ladder."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/calls/{call_uuid}/quality"],
        *,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1CallsByCallUuidQualityReply:
        """Get quality samples of a call (every 5 s), also for a while after its end."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/status"],
        *,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1StatusReply:
        """Get the state of this node."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/registrations"],
        *,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1RegistrationsReply:
        """List the registered contacts of SIP endpoints."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/backup"],
        *,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1BackupReply:
        """Get the progress of the running backup."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/alarms"],
        *,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1AlarmsReply:
        """List the active alarms of all nodes, oldest first."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/alarms/history"],
        *,
        query: Optional[GetAdminV1AlarmsHistoryQuery] = ...,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1AlarmsHistoryReply:
        """List the alarms of all nodes that have ended, latest first. They are kept for a year."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/settings"],
        *,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1SettingsReply:
        """List the settings in force with their sources. Secrets are masked."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/doctor"],
        *,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1DoctorReply:
        """Get the last doctor report of this node since its start."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/log"],
        *,
        query: Optional[GetAdminV1LogQuery] = ...,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1LogReply:
        """List the latest log lines of a node, oldest first. A node keeps 5000 in memory."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/history"],
        *,
        query: Optional[GetAdminV1HistoryQuery] = ...,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1HistoryReply:
        """Get running calls and new calls per second of all nodes from the Prometheus server of the settings."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/nodes"],
        *,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1NodesReply:
        """List the live nodes that share the database."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/users"],
        *,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1UsersReply:
        """List all console users."""

    @overload
    def get(
        self,
        path: Literal["/admin/v1/audit"],
        *,
        query: Optional[GetAdminV1AuditQuery] = ...,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1AuditReply:
        """List the audit log, newest first."""

    @overload
    def get(
        self,
        path: Literal["/admin/openapi.json"],
        *,
        timeout: Optional[float] = ...,
    ) -> Any:
        """Get the REST API with the operator's part as an OpenAPI 3.1 document."""

    def get(self, path: str, **options: Any) -> Any:
        return self._json("GET", path, **options)

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/"],
        body: Optional[PostBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostReply:
        """Update the name or timezone of the account (Plivo form). Other details are not stored."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/token"],
        body: Optional[PostTokenBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostTokenReply:
        """Create a new auth token. The old one stays valid for the overlap."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/access-token"],
        body: Optional[PostAccessTokenBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostAccessTokenReply:
        """Create a short-lived read-only access token, to be sent as Bearer."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/low-balance-alert"],
        body: Optional[PostLowBalanceAlertBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> GetLowBalanceAlertReply:
        """Update the low-balance alert settings: thresholds by currency, and the URL and addresses to notify. Absent fields stay unchanged."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/webhooks/{delivery_id}/replay"],
        *,
        auth_id: Optional[str] = ...,
        delivery_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> GetWebhooksByDeliveryIdReply:
        """Send the same request again with a new signature. It has no effect on the call."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/webhooks/test"],
        body: PostWebhooksTestBody,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> GetWebhooksByDeliveryIdReply:
        """Send a signed test request to a URL, and get the answer."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/stream-test"],
        body: PostStreamTestBody,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostStreamTestReply:
        """Connect to a bot's WebSocket as a call would, speak, listen, and report faults. No call is placed."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Endpoint/"],
        body: PostEndpointBody,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostEndpointReply:
        """Create a SIP endpoint."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Endpoint/{endpoint_id}/"],
        body: Optional[PostEndpointByEndpointIdBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        endpoint_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostReply:
        """Update a SIP endpoint, for example its application by app_id."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Application/"],
        body: PostApplicationBody,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostApplicationReply:
        """Create an application."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Application/{app_id}/"],
        body: Optional[PostApplicationByAppIdBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        app_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostReply:
        """Update an application."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/numbers/purchase-from-inventory"],
        body: PostNumbersPurchaseFromInventoryBody,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> GetNumbersReplyItemsItem:
        """Buy a number. 402 if the available balance is too low."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/numbers/{e164_number}/application"],
        body: PostNumbersByE164NumberApplicationBody,
        *,
        auth_id: Optional[str] = ...,
        e164_number: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> None:
        """Attach an application to a number, for its inbound calls."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/numbers/{e164_number}/assign"],
        body: PostNumbersByE164NumberAssignBody,
        *,
        auth_id: Optional[str] = ...,
        e164_number: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> None:
        """Attach a number to an inbound trunk."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/numbers/{e164_number}/cancel-release"],
        *,
        auth_id: Optional[str] = ...,
        e164_number: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> GetNumbersReplyItemsItem:
        """Undo the release of a number during its cooldown."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/numbers/{e164_number}/assign-subaccount"],
        body: PostNumbersByE164NumberAssignSubaccountBody,
        *,
        auth_id: Optional[str] = ...,
        e164_number: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> None:
        """Assign a number to a sub-account, or unassign it with an empty ID."""

    @overload
    def post(
        self,
        path: Literal["/v1/Account/{auth_id}/Number/{number}/"],
        body: Optional[PostNumberByNumberBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        number: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostReply:
        """Set the application, sub-account or alias of a number (Plivo form)."""

    @overload
    def post(
        self,
        path: Literal["/v1/Account/{auth_id}/PhoneNumber/{number}/"],
        body: Optional[PostPhoneNumberByNumberBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        number: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostPhoneNumberByNumberReply:
        """Buy a number (Plivo form). 402 if the available balance is too low."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/JWT/Token/"],
        body: PostJWTTokenBody,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostJWTTokenReply:
        """Create a JSON Web Token (RFC 7519) for an endpoint, signed with the account's token. A web page uses it to log in its phone (POST /phone/login)."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/trunks"],
        body: PostTrunksBody,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostTrunksReply:
        """Create a trunk."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/origination-uris"],
        body: Optional[PostOriginationUrisBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostOriginationUrisReply:
        """Create an origination URI. The default port is 5060."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/credentials"],
        body: PostCredentialsBody,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostCredentialsReply:
        """Create credentials for trunks."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/ip-acl"],
        body: PostIpAclBody,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostIpAclReply:
        """Allow an address or range for trunks."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/"],
        body: PostCallBody,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostCallReply:
        """Place calls to 1 to 1000 destinations."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/"],
        body: Optional[PostCallByCallUuidBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostCallByCallUuidReply:
        """Transfer one leg, or both, to another document."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/Refer/"],
        body: PostCallByCallUuidReferBody,
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostReply:
        """Transfer a call with SIP REFER: the carrier or trunk calls the target itself."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/Transfer/"],
        body: PostCallByCallUuidTransferBody,
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostReply:
        """Transfer the caller of a bot to a colleague: blind, attended or warm."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/Record/"],
        body: Optional[PostCallByCallUuidRecordBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostCallByCallUuidRecordReply:
        """Record a live call."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/Record/Pause/"],
        body: Optional[PostCallByCallUuidRecordPauseBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostReply:
        """Pause the recordings of a live call, or one of them."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/Record/Resume/"],
        body: Optional[PostCallByCallUuidRecordPauseBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostReply:
        """Resume the recordings of a live call, or one of them."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/Play/"],
        body: PostCallByCallUuidPlayBody,
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostReply:
        """Play audio into a live call."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/Speak/"],
        body: PostCallByCallUuidSpeakBody,
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostReply:
        """Speak a text into a live call."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/DTMF/"],
        body: PostCallByCallUuidDTMFBody,
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostReply:
        """Send keypad digits into a live call."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/Stream/"],
        body: PostCallByCallUuidStreamBody,
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostCallByCallUuidStreamReply:
        """Stream the audio of a live call to a WebSocket."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Conference/{name}/Record/"],
        body: Optional[PostCallByCallUuidRecordBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        name: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostCallByCallUuidRecordReply:
        """Record a conference."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/Mute/"],
        *,
        auth_id: Optional[str] = ...,
        name: str,
        member_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostConferenceByNameMemberByMemberIdMuteReply:
        """Mute members."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/Deaf/"],
        *,
        auth_id: Optional[str] = ...,
        name: str,
        member_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostConferenceByNameMemberByMemberIdMuteReply:
        """Deafen members, so that they hear nothing."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/Kick/"],
        *,
        auth_id: Optional[str] = ...,
        name: str,
        member_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostConferenceByNameMemberByMemberIdMuteReply:
        """Remove members from the room. Their calls continue."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/Play/"],
        body: PostConferenceByNameMemberByMemberIdPlayBody,
        *,
        auth_id: Optional[str] = ...,
        name: str,
        member_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostConferenceByNameMemberByMemberIdMuteReply:
        """Play audio to members."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/Speak/"],
        body: PostConferenceByNameMemberByMemberIdSpeakBody,
        *,
        auth_id: Optional[str] = ...,
        name: str,
        member_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostConferenceByNameMemberByMemberIdMuteReply:
        """Speak a text to members."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/"],
        body: PostMultiPartyCallByMpcIdBody,
        *,
        auth_id: Optional[str] = ...,
        mpc_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostReply:
        """Start a multi-party call, regardless of its participants."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Participant/"],
        body: PostMultiPartyCallByMpcIdParticipantBody,
        *,
        auth_id: Optional[str] = ...,
        mpc_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostMultiPartyCallByMpcIdParticipantReply:
        """Add a participant to a multi-party call, by a new call or by moving a live call."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Participant/{participant_id}/"],
        body: Optional[PostMultiPartyCallByMpcIdParticipantByParticipantIdBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        mpc_id: str,
        participant_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostMultiPartyCallByMpcIdParticipantByParticipantIdReply:
        """Mute, hold or coach a member."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Record/"],
        body: Optional[PostMultiPartyCallByMpcIdRecordBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        mpc_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostMultiPartyCallByMpcIdRecordReply:
        """Record a multi-party call."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Record/Pause/"],
        *,
        auth_id: Optional[str] = ...,
        mpc_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> None:
        """Pause the recording of a multi-party call. The pause is not recorded and not charged."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Record/Resume/"],
        *,
        auth_id: Optional[str] = ...,
        mpc_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> None:
        """Resume the recording of a multi-party call."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Participant/{participant_id}/Record/"],
        body: Optional[PostMultiPartyCallByMpcIdParticipantByParticipantIdRecordBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        mpc_id: str,
        participant_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostMultiPartyCallByMpcIdRecordReply:
        """Record a member of a multi-party call."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Participant/{participant_id}/Record/Pause/"],
        *,
        auth_id: Optional[str] = ...,
        mpc_id: str,
        participant_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> None:
        """Pause the recording of a member."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Participant/{participant_id}/Record/Resume/"],
        *,
        auth_id: Optional[str] = ...,
        mpc_id: str,
        participant_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> None:
        """Resume the recording of a member."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Member/{participant_id}/Play/"],
        body: PostConferenceByNameMemberByMemberIdPlayBody,
        *,
        auth_id: Optional[str] = ...,
        mpc_id: str,
        participant_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostMultiPartyCallByMpcIdMemberByParticipantIdPlayReply:
        """Play a file to one member, mixed with the room's audio."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/export/recording/"],
        body: PostExportRecordingBody,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostExportRecordingReply:
        """Queue a bulk export of recordings. Every recipient receives the link by mail."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaign/agents"],
        body: PostCampaignAgentsBody,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostCampaignAgentsReply:
        """Create an agent, which handles the answered calls of campaigns."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns"],
        body: PostCampaignsBody,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostCampaignsReply:
        """Create a campaign. It is a draft until contacts are uploaded."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/schedule"],
        body: PostCampaignsByCampaignIdScheduleBody,
        *,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostCampaignsReply:
        """Schedule the start of a draft or ready campaign; null removes the schedule."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/clone"],
        body: Optional[PostCampaignsByCampaignIdCloneBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostCampaignsReply:
        """Copy the plan and pool of a campaign to a new draft, without contacts and schedule."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/start"],
        *,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostCampaignsReply:
        """Start a ready campaign."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/pause"],
        *,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostCampaignsReply:
        """Pause a campaign. Running calls continue."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/resume"],
        *,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostCampaignsReply:
        """Resume a paused campaign. Refused while the cause of the pause exists."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/cancel"],
        *,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostCampaignsReply:
        """End a running or paused campaign permanently."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/archive"],
        *,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostCampaignsReply:
        """Archive a campaign that is not running. Its results stay readable."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/pool"],
        body: PostCampaignsByCampaignIdPoolBody,
        *,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostCampaignsByCampaignIdPoolReply:
        """Add caller numbers to the pool of a campaign."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/account/{auth_id}/do-not-call"],
        body: PostDoNotCallBody,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostDoNotCallReply:
        """Add numbers that campaigns of the account must not call, starting with the next call."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/partner/accounts/{customer_auth_id}/concurrency/transfer"],
        body: PostPartnerAccountsByCustomerAuthIdConcurrencyTransferBody,
        *,
        customer_auth_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostPartnerAccountsByCustomerAuthIdConcurrencyTransferReply:
        """Transfer capacity from the partner to a customer."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/partner/accounts/{customer_auth_id}/concurrency/reclaim"],
        body: PostPartnerAccountsByCustomerAuthIdConcurrencyTransferBody,
        *,
        customer_auth_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostPartnerAccountsByCustomerAuthIdConcurrencyTransferReply:
        """Reclaim capacity from a customer."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/accounts/{auth_id}/sub-accounts/"],
        body: PostAccountsByAuthIdSubAccountsBody,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostAccountsByAuthIdSubAccountsReply:
        """Create a sub-account. Only this response shows its token."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Subaccount/"],
        body: PostAccountsByAuthIdSubAccountsBody,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostSubaccountReply:
        """Create a sub-account (Plivo form)."""

    @overload
    def post(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Subaccount/{sub_auth_id}/"],
        body: Optional[PutAccountsByAuthIdSubAccountsBySubAuthIdBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        sub_auth_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostReply:
        """Update a sub-account (Plivo form)."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/accounts"],
        body: PostAdminV1AccountsBody,
        *,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostAdminV1AccountsReply:
        """Create an account. Only this response shows its token."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/accounts/{auth_id}/balances"],
        body: PostAdminV1AccountsByAuthIdBalancesBody,
        *,
        auth_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> GetBalanceByCurrencyReply:
        """Add a balance in another currency."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/accounts/{auth_id}/credit"],
        body: PostAdminV1AccountsByAuthIdCreditBody,
        *,
        auth_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostAdminV1AccountsByAuthIdCreditReply:
        """Credit an account, or debit it with a negative amount."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/accounts/{auth_id}/token"],
        body: Optional[PostTokenBody] = ...,
        *,
        auth_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostAdminV1AccountsByAuthIdTokenReply:
        """Create a new token. The old one stays valid for the overlap."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/accounts/{auth_id}/caller-ids"],
        body: GetCallerIdsReplyCallerIdsItem,
        *,
        auth_id: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> GetCallerIdsReplyCallerIdsItem:
        """Add a verified caller ID to the account."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/numbers"],
        body: PostAdminV1NumbersBody,
        *,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> GetNumbersReplyItemsItem:
        """Add a number to the inventory, or assign it to an account."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/carriers"],
        body: PostAdminV1CarriersBody,
        *,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostAdminV1CarriersReply:
        """Add a SIP gateway."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/carriers/{name}"],
        body: PostAdminV1CarriersByNameBody,
        *,
        name: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostAdminV1CarriersReply:
        """Add a SIP gateway, with its name in the path."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/rates"],
        body: PostAdminV1RatesBody,
        *,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostAdminV1RatesReply:
        """Set a rate. It replaces a rate with the same direction, prefix, currency and account."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/do-not-call"],
        body: PostDoNotCallBody,
        *,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostDoNotCallReply:
        """Add numbers that campaigns of all accounts must not call, starting with the next call."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/import/{kind}"],
        body: PostAdminV1ImportByKindBody,
        *,
        kind: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostAdminV1ImportByKindReply:
        """Import up to 1000 rows of rates, numbers or accounts. Rows are validated independently; an invalid row is reported and skipped."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/drain"],
        *,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostAdminV1DrainReply:
        """Refuse new calls. Running calls continue."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/reload"],
        *,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostAdminV1ReloadReply:
        """Reload the settings, as SIGHUP does: rates, carriers, log level and certificates. Others need a restart."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/backup"],
        body: Optional[PostCampaignsByCampaignIdCloneBody] = ...,
        *,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostAdminV1BackupReply:
        """Write a consistent backup of the database into the backups folder while the service runs."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/verify"],
        *,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostAdminV1VerifyReply:
        """Verify that every balance equals the sum of its entries."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/alarms/acknowledge"],
        body: PostAdminV1AlarmsAcknowledgeBody,
        *,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> None:
        """Acknowledge an active alarm, until it ends. Other operators see who knows of it."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/doctor"],
        *,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> GetAdminV1DoctorReply:
        """Run `carillon doctor` on this node: checks of settings, machine and network."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/nodes/{node}/drain"],
        *,
        node: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostAdminV1DrainReply:
        """Refuse new calls on a node. Running calls continue."""

    @overload
    def post(
        self,
        path: Literal["/admin/v1/users"],
        body: PostAdminV1UsersBody,
        *,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> PostAdminV1UsersReply:
        """Invite a console user. Returns a one-time link that creates the user."""

    def post(self, path: str, body: Any = None, **options: Any) -> Any:
        return self._json("POST", path, body=body, **options)

    @overload
    def put(
        self,
        path: Literal["/api/v1/Account/{auth_id}/caller-ids/default"],
        body: PutCallerIdsDefaultBody,
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> GetCallerIdsReply:
        """Set the default caller ID, used if call, endpoint and application name none; null removes it."""

    @overload
    def put(
        self,
        path: Literal["/api/v1/Account/{auth_id}/trunks/{trunk_id}"],
        body: Optional[PutTrunksByTrunkIdBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        trunk_id: str,
        timeout: Optional[float] = ...,
    ) -> PostTrunksReply:
        """Update a trunk. Absent fields stay unchanged, null removes a part."""

    @overload
    def put(
        self,
        path: Literal["/api/v1/Account/{auth_id}/origination-uris/{id}"],
        body: Optional[PostOriginationUrisBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        id: str,
        timeout: Optional[float] = ...,
    ) -> PostOriginationUrisReply:
        """Update one origination URI."""

    @overload
    def put(
        self,
        path: Literal["/api/v1/Account/{auth_id}/credentials/{id}"],
        body: Optional[PutCredentialsByIdBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        id: str,
        timeout: Optional[float] = ...,
    ) -> PostCredentialsReply:
        """Update one credential."""

    @overload
    def put(
        self,
        path: Literal["/api/v1/Account/{auth_id}/ip-acl/{id}"],
        body: Optional[PutIpAclByIdBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        id: str,
        timeout: Optional[float] = ...,
    ) -> PostIpAclReply:
        """Update one IP ACL."""

    @overload
    def put(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaign/agents/{agent_id}"],
        body: Optional[PutCampaignAgentsByAgentIdBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        agent_id: str,
        timeout: Optional[float] = ...,
    ) -> PostCampaignAgentsReply:
        """Update an agent. Absent fields stay unchanged."""

    @overload
    def put(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}"],
        body: Optional[PutCampaignsByCampaignIdBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        timeout: Optional[float] = ...,
    ) -> PostCampaignsReply:
        """Update a draft or ready campaign. Absent fields stay unchanged."""

    @overload
    def put(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/pool/{number_id}"],
        body: Optional[PutCampaignsByCampaignIdPoolByNumberIdBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        number_id: str,
        timeout: Optional[float] = ...,
    ) -> PostCampaignsByCampaignIdPoolReplyAddedItem:
        """Update a number of the pool. Absent fields stay unchanged; a new number resets the counts."""

    @overload
    def put(
        self,
        path: Literal["/api/v1/accounts/{auth_id}/sub-accounts/{sub_auth_id}"],
        body: Optional[PutAccountsByAuthIdSubAccountsBySubAuthIdBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        sub_auth_id: str,
        timeout: Optional[float] = ...,
    ) -> GetAccountsByAuthIdSubAccountsReplySubAccountsItem:
        """Update a sub-account."""

    @overload
    def put(
        self,
        path: Literal["/admin/v1/media-policies/{subject}/{name}"],
        body: Optional[PutAdminV1MediaPoliciesBySubjectByNameBody] = ...,
        *,
        subject: str,
        name: str,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1MediaPoliciesReplyPoliciesItem:
        """Set the codecs (in order of preference) and SRTP of an account, endpoint, trunk or carrier, starting with its next call. Absent fields use the settings."""

    def put(self, path: str, body: Any = None, **options: Any) -> Any:
        return self._json("PUT", path, body=body, **options)

    @overload
    def patch(
        self,
        path: Literal["/admin/v1/accounts/{auth_id}"],
        body: Optional[PatchAdminV1AccountsByAuthIdBody] = ...,
        *,
        auth_id: str,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1AccountsByAuthIdReply:
        """Update an account. Absent fields stay unchanged, null clears."""

    @overload
    def patch(
        self,
        path: Literal["/admin/v1/accounts/{auth_id}/balances/{currency}"],
        body: Optional[PatchAdminV1AccountsByAuthIdBalancesByCurrencyBody] = ...,
        *,
        auth_id: str,
        currency: str,
        timeout: Optional[float] = ...,
    ) -> GetBalanceByCurrencyReply:
        """Update the credit terms and alert threshold of a balance."""

    @overload
    def patch(
        self,
        path: Literal["/admin/v1/accounts/{auth_id}/trunks/{trunk_id}"],
        body: Optional[PatchAdminV1AccountsByAuthIdTrunksByTrunkIdBody] = ...,
        *,
        auth_id: str,
        trunk_id: str,
        timeout: Optional[float] = ...,
    ) -> GetAdminV1AccountsByAuthIdTrunksByTrunkIdReply:
        """Set the header and identity policy of a trunk, and the private networks that its origination URIs may use."""

    @overload
    def patch(
        self,
        path: Literal["/admin/v1/carriers/{name}"],
        body: Optional[PatchAdminV1CarriersByNameBody] = ...,
        *,
        name: str,
        timeout: Optional[float] = ...,
    ) -> PostAdminV1CarriersReply:
        """Update a SIP gateway."""

    def patch(self, path: str, body: Any = None, **options: Any) -> Any:
        return self._json("PATCH", path, body=body, **options)

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Endpoint/{endpoint_id}/"],
        *,
        auth_id: Optional[str] = ...,
        endpoint_id: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Delete a SIP endpoint."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Application/{app_id}/"],
        body: Optional[DeleteApplicationByAppIdBody] = ...,
        *,
        auth_id: Optional[str] = ...,
        app_id: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Delete an application. Refused while numbers or endpoints are attached."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/numbers/{e164_number}"],
        *,
        auth_id: Optional[str] = ...,
        e164_number: str,
        timeout: Optional[float] = ...,
    ) -> DeleteNumbersByE164NumberReply:
        """Release a number. This can be undone until its cooldown ends."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/numbers/{e164_number}/application"],
        *,
        auth_id: Optional[str] = ...,
        e164_number: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Detach a number from its application."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/numbers/{e164_number}/assign"],
        *,
        auth_id: Optional[str] = ...,
        e164_number: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Detach a number from its trunk."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/numbers/{e164_number}/assign-subaccount"],
        *,
        query: Optional[DeleteNumbersByE164NumberAssignSubaccountQuery] = ...,
        auth_id: Optional[str] = ...,
        e164_number: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Unassign a number from its sub-account."""

    @overload
    def delete(
        self,
        path: Literal["/v1/Account/{auth_id}/Number/{number}/"],
        *,
        auth_id: Optional[str] = ...,
        number: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Release a number (Plivo form)."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/JWT/Token/{jti}/"],
        *,
        auth_id: Optional[str] = ...,
        jti: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Revoke a token by its jti. Its logins end, together with their registrations and calls."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/trunks/{trunk_id}"],
        *,
        auth_id: Optional[str] = ...,
        trunk_id: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Delete a trunk. Refused while numbers are assigned to it."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/origination-uris/{id}"],
        *,
        auth_id: Optional[str] = ...,
        id: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Delete one origination URI. Refused while a trunk uses it."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/credentials/{id}"],
        *,
        auth_id: Optional[str] = ...,
        id: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Delete one credential. Refused while a trunk uses it."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/ip-acl/{id}"],
        *,
        auth_id: Optional[str] = ...,
        id: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Delete one IP ACL. Refused while a trunk uses it."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/"],
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Hang up a live call, or cancel a queued one."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Request/{request_uuid}/"],
        *,
        auth_id: Optional[str] = ...,
        request_uuid: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Cancel the calls of a request that are still queued."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/Transfer/"],
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Cancel a transfer: the colleague is hung up and the caller is with the bot again."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/Record/"],
        body: Optional[DeleteCallByCallUuidRecordBody] = ...,
        *,
        query: Optional[DeleteCallByCallUuidRecordQuery] = ...,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Stop recording a live call."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/Play/"],
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Stop playing audio into a live call."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/Speak/"],
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Stop speaking into a live call."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/Stream/"],
        *,
        query: Optional[DeleteCallByCallUuidStreamQuery] = ...,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Stop all streams of a call."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/Stream/{stream_id}/"],
        *,
        query: Optional[DeleteCallByCallUuidStreamQuery] = ...,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        stream_id: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Stop a stream."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Conference/"],
        *,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> None:
        """End all conferences."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Conference/{name}/"],
        *,
        auth_id: Optional[str] = ...,
        name: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """End a conference."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Conference/{name}/Record/"],
        *,
        auth_id: Optional[str] = ...,
        name: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Stop recording a conference."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/Mute/"],
        *,
        auth_id: Optional[str] = ...,
        name: str,
        member_id: str,
        timeout: Optional[float] = ...,
    ) -> PostConferenceByNameMemberByMemberIdMuteReply:
        """Unmute members."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/Deaf/"],
        *,
        auth_id: Optional[str] = ...,
        name: str,
        member_id: str,
        timeout: Optional[float] = ...,
    ) -> PostConferenceByNameMemberByMemberIdMuteReply:
        """Undeafen members."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/"],
        *,
        auth_id: Optional[str] = ...,
        name: str,
        member_id: str,
        timeout: Optional[float] = ...,
    ) -> PostConferenceByNameMemberByMemberIdMuteReply:
        """Hang up members."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/Play/"],
        *,
        auth_id: Optional[str] = ...,
        name: str,
        member_id: str,
        timeout: Optional[float] = ...,
    ) -> PostConferenceByNameMemberByMemberIdMuteReply:
        """Stop playing to members."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Conference/{name}/Member/{member_id}/Speak/"],
        *,
        auth_id: Optional[str] = ...,
        name: str,
        member_id: str,
        timeout: Optional[float] = ...,
    ) -> PostConferenceByNameMemberByMemberIdMuteReply:
        """Stop speaking to members."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/"],
        *,
        auth_id: Optional[str] = ...,
        mpc_id: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """End a multi-party call and the calls in it."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Participant/{participant_id}/"],
        *,
        auth_id: Optional[str] = ...,
        mpc_id: str,
        participant_id: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Remove a member. Its document continues."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Record/"],
        *,
        auth_id: Optional[str] = ...,
        mpc_id: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Stop recording a multi-party call."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Participant/{participant_id}/Record/"],
        *,
        auth_id: Optional[str] = ...,
        mpc_id: str,
        participant_id: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Stop the recording of a member."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/{mpc_id}/Member/{participant_id}/Play/"],
        *,
        auth_id: Optional[str] = ...,
        mpc_id: str,
        participant_id: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Stop playing to a member."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Recording/{recording_id}/"],
        *,
        auth_id: Optional[str] = ...,
        recording_id: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Delete a recording and its file."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Recording/BulkDelete/"],
        body: Optional[DeleteRecordingBulkDeleteBody] = ...,
        *,
        query: Optional[DeleteRecordingBulkDeleteQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> DeleteRecordingBulkDeleteReply:
        """Delete all recordings that match the filters, and their files. At least one filter is required."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaign/agents/{agent_id}"],
        *,
        auth_id: Optional[str] = ...,
        agent_id: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Delete an agent. Refused while unfinished campaigns use it."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/pool/{number_id}"],
        *,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        number_id: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Remove a number from the pool."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/account/{auth_id}/do-not-call/{number}"],
        *,
        auth_id: Optional[str] = ...,
        number: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Remove a number from the do-not-call list."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/accounts/{auth_id}/sub-accounts/{sub_auth_id}"],
        *,
        auth_id: Optional[str] = ...,
        sub_auth_id: str,
        timeout: Optional[float] = ...,
    ) -> DeleteAccountsByAuthIdSubAccountsBySubAuthIdReply:
        """Delete a sub-account."""

    @overload
    def delete(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Subaccount/{sub_auth_id}/"],
        *,
        auth_id: Optional[str] = ...,
        sub_auth_id: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Delete a sub-account (Plivo form)."""

    @overload
    def delete(
        self,
        path: Literal["/admin/v1/accounts/{auth_id}/caller-ids/{number}"],
        *,
        auth_id: str,
        number: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Delete a verified caller ID."""

    @overload
    def delete(
        self,
        path: Literal["/admin/v1/numbers/{e164}"],
        *,
        e164: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Remove a free number from the inventory."""

    @overload
    def delete(
        self,
        path: Literal["/admin/v1/media-policies/{subject}/{name}"],
        *,
        subject: str,
        name: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Delete a media policy, so that the settings apply again."""

    @overload
    def delete(
        self,
        path: Literal["/admin/v1/unreadable-rows/{table}/{key}"],
        *,
        table: str,
        key: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Remove a row from the list. The row itself stays in its table, except for an open call: it is removed and its reservations are released."""

    @overload
    def delete(
        self,
        path: Literal["/admin/v1/personal-data"],
        *,
        query: GetAdminV1PersonalDataQuery,
        timeout: Optional[float] = ...,
    ) -> DeleteAdminV1PersonalDataReply:
        """Erase a telephone number from all records: recordings, transcriptions, timelines and contacts. Times and amounts of calls remain."""

    @overload
    def delete(
        self,
        path: Literal["/admin/v1/carriers/{name}"],
        *,
        name: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Remove a SIP gateway."""

    @overload
    def delete(
        self,
        path: Literal["/admin/v1/rates"],
        *,
        query: DeleteAdminV1RatesQuery,
        timeout: Optional[float] = ...,
    ) -> None:
        """Remove a rate. If the price list file has one, it applies again."""

    @overload
    def delete(
        self,
        path: Literal["/admin/v1/do-not-call/{number}"],
        *,
        number: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Remove a number from the do-not-call list."""

    @overload
    def delete(
        self,
        path: Literal["/admin/v1/calls/{call_uuid}"],
        *,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Hang up."""

    @overload
    def delete(
        self,
        path: Literal["/admin/v1/users/{user_id}"],
        *,
        user_id: str,
        timeout: Optional[float] = ...,
    ) -> None:
        """Delete a console user. The user's sessions end."""

    def delete(self, path: str, body: Any = None, **options: Any) -> Any:
        return self._json("DELETE", path, body=body, **options)

    @overload
    def file(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/listen"],
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
        idempotency_key: Optional[str] = ...,
    ) -> Download:
        """Listen to an answered call: an endless WAV file. Left: audio from the other party. Right: audio sent to it."""

    @overload
    def file(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/stream-events"],
        *,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> Download:
        """Stream the messages of a running call's bots and the audio levels of both directions, as server-sent events."""

    @overload
    def file(
        self,
        path: Literal["/api/v1/Account/{auth_id}/cdr/export"],
        *,
        query: Optional[GetCdrExportQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Download:
        """Download call records as CSV, or as JSON lines with all fields."""

    @overload
    def file(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Recording/{recording_id}.{format}"],
        *,
        query: Optional[GetRecordingByRecordingIdByFormatQuery] = ...,
        auth_id: Optional[str] = ...,
        recording_id: str,
        format: str,
        timeout: Optional[float] = ...,
    ) -> Download:
        """Download the audio file, with credentials or a signed link."""

    @overload
    def file(
        self,
        path: Literal["/api/v1/Account/{auth_id}/export/recording/{export_id}.zip"],
        *,
        query: Optional[GetRecordingByRecordingIdByFormatQuery] = ...,
        auth_id: Optional[str] = ...,
        export_id: str,
        timeout: Optional[float] = ...,
    ) -> Download:
        """Download the archive of an export, with credentials or the mailed link."""

    @overload
    def file(
        self,
        path: Literal["/api/v1/Account/{auth_id}/transactions/export"],
        *,
        query: Optional[GetTransactionsExportQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Download:
        """Download ledger entries as CSV or JSON lines, newest first."""

    @overload
    def file(
        self,
        path: Literal["/api/v1/Account/{auth_id}/invoices/{month}/pdf"],
        *,
        query: Optional[GetInvoicesByMonthQuery] = ...,
        auth_id: Optional[str] = ...,
        month: str,
        timeout: Optional[float] = ...,
    ) -> Download:
        """Get the invoice of a month, from the ledger. One currency, by default that of the account; as PDF."""

    @overload
    def file(
        self,
        path: Literal["/admin/v1/accounts/{auth_id}/transactions/export"],
        *,
        query: Optional[GetTransactionsExportQuery] = ...,
        auth_id: str,
        timeout: Optional[float] = ...,
    ) -> Download:
        """Download ledger entries as CSV or JSON lines, newest first."""

    @overload
    def file(
        self,
        path: Literal["/admin/v1/accounts/{auth_id}/cdr/export"],
        *,
        query: Optional[GetAdminV1AccountsByAuthIdCdrExportQuery] = ...,
        auth_id: str,
        timeout: Optional[float] = ...,
    ) -> Download:
        """Download call records of an account as CSV or JSON lines, latest first."""

    @overload
    def file(
        self,
        path: Literal["/admin/v1/accounts/{auth_id}/invoices/{month}/pdf"],
        *,
        query: Optional[GetInvoicesByMonthQuery] = ...,
        auth_id: str,
        month: str,
        timeout: Optional[float] = ...,
    ) -> Download:
        """Get the invoice of a month, from the ledger. One currency, by default that of the account; as PDF."""

    @overload
    def file(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/upload/errors"],
        *,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        timeout: Optional[float] = ...,
    ) -> Download:
        """Download the rejected rows of the list with row number and reason, as CSV."""

    @overload
    def file(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/results"],
        *,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        timeout: Optional[float] = ...,
    ) -> Download:
        """Download the current or final result of every contact, as CSV."""

    @overload
    def file(
        self,
        path: Literal["/metrics"],
        *,
        timeout: Optional[float] = ...,
    ) -> Download:
        """Get Prometheus metrics, or OpenMetrics with exemplars if Accept requests it."""

    @overload
    def file(
        self,
        path: Literal["/admin/v1/personal-data/export"],
        *,
        query: GetAdminV1PersonalDataQuery,
        timeout: Optional[float] = ...,
    ) -> Download:
        """Export the records of a telephone number, one JSON object per line, with links to recordings."""

    @overload
    def file(
        self,
        path: Literal["/admin/docs"],
        *,
        timeout: Optional[float] = ...,
    ) -> Download:
        """Show the REST API page, including the operator's part."""

    def file(self, path: str, **options: Any) -> Any:
        return self._file(path, **options)

    def upload(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/upload"],
        file: Union[bytes, IO[bytes]],
        content_type: str,
        *,
        auth_id: Optional[str] = None,
        campaign_id: str,
        timeout: Optional[float] = None,
        idempotency_key: Optional[str] = None,
    ) -> PostCampaignsByCampaignIdUploadReply:
        """Upload contacts as CSV (form field file, or text/csv) or as JSON rows. Columns: to, from, answer_url, hangup_url; others are SIP headers. Replaces the previous list."""
        reply: PostCampaignsByCampaignIdUploadReply = self._upload(path, file=file, content_type=content_type, auth_id=auth_id, campaign_id=campaign_id, timeout=timeout, idempotency_key=idempotency_key)
        return reply

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/transactions"],
        *,
        query: Optional[GetTransactionsQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetTransactionsReplyTransactionsItem]:
        """List ledger entries, with totals of the whole filtered set."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/webhooks"],
        *,
        query: Optional[GetWebhooksQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetWebhooksReplyObjectsItem]:
        """List the latest requests to the URLs of the account, latest first. Up to 500 are kept for 7 days."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Endpoint/"],
        *,
        query: Optional[GetEndpointQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetEndpointReplyObjectsItem]:
        """List SIP endpoints."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Application/"],
        *,
        query: Optional[GetApplicationQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetApplicationReplyObjectsItem]:
        """List applications."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/numbers"],
        *,
        query: Optional[GetNumbersQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetNumbersReplyItemsItem]:
        """List the numbers of the account."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/inventory/numbers"],
        *,
        query: Optional[GetInventoryNumbersQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetNumbersReplyItemsItem]:
        """List the numbers that can be bought."""

    @overload
    def each(
        self,
        path: Literal["/v1/Account/{auth_id}/Number/"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetNumberReplyObjectsItem]:
        """List the numbers of the account (Plivo form)."""

    @overload
    def each(
        self,
        path: Literal["/v1/Account/{auth_id}/PhoneNumber/"],
        *,
        query: GetPhoneNumberQuery,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetPhoneNumberReplyObjectsItem]:
        """List the numbers that can be bought (Plivo form)."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/trunks"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[PostTrunksReply]:
        """List trunks."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/origination-uris"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[PostOriginationUrisReply]:
        """List origination URIs."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/trunks/origination-uris"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[PostOriginationUrisReply]:
        """List origination URIs."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/credentials"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[PostCredentialsReply]:
        """List credentials."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/trunks/credentials"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[PostCredentialsReply]:
        """List credentials."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/ip-acl"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[PostIpAclReply]:
        """List IP ACLs."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/trunks/ip-acl"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[PostIpAclReply]:
        """List IP ACLs."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Call/{call_uuid}/Stream/"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        call_uuid: str,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetCallByCallUuidStreamReplyObjectsItem]:
        """List the streams of a live call."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/MultiPartyCall/"],
        *,
        query: Optional[GetMultiPartyCallQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetMultiPartyCallReplyObjectsItem]:
        """List multi-party calls: running ones, then those that ended in the last week, latest first."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/cdr"],
        *,
        query: Optional[GetCdrQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetCdrReplyDataItem]:
        """List call records, latest first."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/cdr/search"],
        *,
        query: Optional[GetCdrQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetCdrReplyDataItem]:
        """List call records; the response repeats the filters."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Recording/"],
        *,
        query: Optional[GetRecordingQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetRecordingReplyObjectsItem]:
        """List recordings, latest first."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/export/recording/"],
        *,
        query: Optional[GetExportRecordingQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetExportRecordingReplyObjectsItem]:
        """List exports, newest first, with state, progress, and download link when done."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaign/agents"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[PostCampaignAgentsReply]:
        """List agents."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns"],
        *,
        query: Optional[GetCampaignsQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[PostCampaignsReply]:
        """List campaigns, latest first."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/contacts"],
        *,
        query: Optional[GetCampaignsByCampaignIdContactsQuery] = ...,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetCampaignsByCampaignIdContactsReplyObjectsItem]:
        """List the contacts and their statuses, in the order of the list."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/account/{auth_id}/campaigns/{campaign_id}/calls"],
        *,
        query: Optional[GetCampaignsByCampaignIdCallsQuery] = ...,
        auth_id: Optional[str] = ...,
        campaign_id: str,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetCampaignsByCampaignIdCallsReplyObjectsItem]:
        """List all attempts, latest first, including those without a call record."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/account/{auth_id}/do-not-call"],
        *,
        query: Optional[GetDoNotCallQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetDoNotCallReplyObjectsItem]:
        """List the numbers that campaigns of the account must not call, in ascending order."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/partner/concurrency/transfers"],
        *,
        query: Optional[GetNumberQuery] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetPartnerConcurrencyTransfersReplyTransfersItem]:
        """List transfers and reclaims, newest first."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/accounts/{auth_id}/sub-accounts/"],
        *,
        query: Optional[GetAccountsByAuthIdSubAccountsQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetAccountsByAuthIdSubAccountsReplySubAccountsItem]:
        """List sub-accounts."""

    @overload
    def each(
        self,
        path: Literal["/api/v1/Account/{auth_id}/Subaccount/"],
        *,
        query: Optional[GetNumberQuery] = ...,
        auth_id: Optional[str] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetSubaccountReplyObjectsItem]:
        """List sub-accounts (Plivo form)."""

    @overload
    def each(
        self,
        path: Literal["/admin/v1/accounts"],
        *,
        query: Optional[GetAdminV1AccountsQuery] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetAdminV1AccountsReplyAccountsItem]:
        """List main accounts, or the sub-accounts of one."""

    @overload
    def each(
        self,
        path: Literal["/admin/v1/accounts/{auth_id}/transactions"],
        *,
        query: Optional[GetAdminV1AccountsByAuthIdTransactionsQuery] = ...,
        auth_id: str,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetTransactionsReplyTransactionsItem]:
        """List the ledger entries of an account, newest first, with totals of the whole filtered set."""

    @overload
    def each(
        self,
        path: Literal["/admin/v1/numbers"],
        *,
        query: Optional[GetAdminV1NumbersQuery] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetNumbersReplyItemsItem]:
        """List all numbers of the service."""

    @overload
    def each(
        self,
        path: Literal["/admin/v1/unreadable-rows"],
        *,
        query: Optional[GetNumberQuery] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetAdminV1UnreadableRowsReplyRowsItem]:
        """List database rows that could not be read and are skipped, latest first."""

    @overload
    def each(
        self,
        path: Literal["/admin/v1/do-not-call"],
        *,
        query: Optional[GetDoNotCallQuery] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetDoNotCallReplyObjectsItem]:
        """List the numbers that campaigns of all accounts must not call, in ascending order."""

    @overload
    def each(
        self,
        path: Literal["/admin/v1/alarms/history"],
        *,
        query: Optional[GetAdminV1AlarmsHistoryQuery] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetAdminV1AlarmsHistoryReplyAlarmsItem]:
        """List the alarms of all nodes that have ended, latest first. They are kept for a year."""

    @overload
    def each(
        self,
        path: Literal["/admin/v1/audit"],
        *,
        query: Optional[GetAdminV1AuditQuery] = ...,
        timeout: Optional[float] = ...,
    ) -> Iterator[GetAdminV1AuditReplyEntriesItem]:
        """List the audit log, newest first."""

    def each(self, path: str, **options: Any) -> Any:
        return self._each(path, **options)

    @abstractmethod
    def _json(self, method: str, path: str, **options: Any) -> Any: ...

    @abstractmethod
    def _file(self, path: str, **options: Any) -> Any: ...

    @abstractmethod
    def _upload(self, path: str, file: Any, content_type: str, **options: Any) -> Any: ...

    @abstractmethod
    def _each(self, path: str, **options: Any) -> Iterator[Any]: ...
