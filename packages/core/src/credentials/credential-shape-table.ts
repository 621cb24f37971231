// Known forms of credentials, as prefixes or as patterns. No pattern has an open-ended or nested quantifier, so the
// search time is linear in the length of the value.

export interface CredentialShape {
  readonly name: string
  /** Minimum length of a value that can contain this form of credential. */
  readonly minLength: number
  readonly pattern: RegExp
}

const ALNUM = 'A-Za-z0-9'
const WORD = 'A-Za-z0-9_'
const URL64 = 'A-Za-z0-9_\\-'
const BASE64 = 'A-Za-z0-9+/'
const HEX = '0-9a-f'

type PrefixRow = readonly [name: string, prefix: string, characters: string, atLeast: number]

/** Forms that start with a provider's prefix. After the prefix come at least `atLeast` of the given characters. */
const PREFIXED: readonly PrefixRow[] = [
  ['holdfast_token', `hf[a-z]?_(?:tok_)?[${ALNUM}]{16,64}_`, URL64, 16],
  ['github_token', 'gh[pousr]_', ALNUM, 36],
  ['github_token', 'ghs_[0-9]{1,20}_', URL64, 20],
  ['github_token', 'github_pat_', WORD, 36],
  ['gitlab_token', 'gl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct|wt)-', URL64, 20],
  ['slack_token', 'xox[a-z]-', `${ALNUM}-`, 10],
  ['slack_token', 'xoxe\\.xox[bp]-', `${ALNUM}-`, 10],
  ['slack_token', 'xapp-[0-9]-', `${ALNUM}-`, 10],
  ['slack_webhook', 'hooks\\.slack\\.com/(?:services|workflows|triggers)/', `${ALNUM}/`, 16],
  ['stripe_key', '[sr]k_(?:live|test)_', ALNUM, 16],
  ['stripe_webhook_secret', 'whsec_', `${BASE64}=`, 24],
  ['google_api_key', 'AIza', URL64, 35],
  ['google_oauth_secret', 'GOCSPX-', URL64, 24],
  ['google_oauth_token', 'ya29\\.', URL64, 20],
  ['openai_key', 'sk-(?:proj|svcacct|admin|None)-', URL64, 20],
  ['openai_key', 'sk-(?:or-v1-)?', ALNUM, 32],
  ['anthropic_key', 'sk-ant-', URL64, 20],
  ['hugging_face_token', '(?:hf|api_org)_', 'A-Za-z', 34],
  ['groq_key', 'gsk_', ALNUM, 40],
  ['perplexity_key', 'pplx-', ALNUM, 40],
  ['xai_key', 'xai-', ALNUM, 60],
  ['replicate_token', 'r8_', ALNUM, 37],
  ['npm_token', 'npm_', ALNUM, 36],
  ['pypi_token', 'pypi-AgE', URL64, 40],
  ['rubygems_key', 'rubygems_', HEX, 48],
  ['crates_token', 'cio', ALNUM, 32],
  ['sendgrid_key', `SG\\.[${URL64}]{16,64}\\.`, URL64, 16],
  ['mailgun_key', 'key-', HEX, 32],
  ['mailchimp_key', `[${HEX}]{32}-us`, '0-9', 1],
  ['brevo_key', 'xkeysib-', HEX, 40],
  ['postmark_or_postman_key', 'PMAK-', `${ALNUM}-`, 40],
  ['digitalocean_token', 'do[opr]_v1_', HEX, 64],
  ['vault_token', 'hv[sbr]\\.', URL64, 24],
  ['shopify_token', 'shp(?:at|ca|pa|ss|ua)_', ALNUM, 32],
  ['telegram_bot_token', '(?:bot)?[0-9]{8,10}:A', URL64, 34],
  ['discord_webhook', 'discord(?:app)?\\.com/api/webhooks/[0-9]{17,20}/', URL64, 40],
  ['teams_webhook', `webhook\\.office\\.com/webhookb2/[${HEX}@-]{32,80}/IncomingWebhook/`, HEX, 32],
  ['age_secret_key', 'AGE-SECRET-KEY-1', '0-9A-Z', 50],
  ['docker_token', 'dckr_[op]at_', URL64, 20],
  ['grafana_token', 'glc_', `${BASE64}=`, 32],
  ['grafana_token', `glsa_[${ALNUM}]{32}_`, 'A-Fa-f0-9', 8],
  ['linear_key', 'lin_(?:api|oauth)_', WORD, 32],
  ['notion_token', 'ntn_[0-9]{11}', ALNUM, 30],
  ['notion_token', 'secret_', ALNUM, 43],
  ['one_password_token', 'ops_ey', `${BASE64}=_-`, 100],
  ['vercel_token', 'vc[pairk]_', ALNUM, 20],
  ['databricks_token', 'dapi', 'A-Fa-f0-9', 32],
  ['figma_token', 'fig[do]_', URL64, 40],
  ['cloudflare_token', 'cf(?:k|ut|at)_', ALNUM, 40],
  ['tailscale_key', `tskey-[a-z]{2,20}-[${WORD}]{8,40}-`, WORD, 16],
  ['new_relic_key', 'NR(?:AK|II|BR|RA|SP|JS)-', `${ALNUM}-`, 19],
  ['heroku_key', 'HRKU-', URL64, 36],
  ['planetscale_token', 'pscale_(?:tkn|pw|oauth)_', `${URL64}.=`, 32],
  ['doppler_token', 'dp\\.(?:pt|st|ct|sa|scim|audit)\\.', `${URL64}.`, 40],
  ['fly_token', '(?:fo1_|fm[12][ar]?_)', `${BASE64}_=-`, 40],
  ['supabase_token', '(?:sbp|sb_secret)_', WORD, 30],
  ['atlassian_token', 'AT(?:ATT3|CTT3|BB)', `${URL64}=`, 28],
  ['square_token', 'sq0(?:atp|csp|idp)-', URL64, 22],
  ['sentry_token', 'sntry[su]_', `${BASE64}=_-`, 40],
  ['sonar_token', 'sq[uap]_', HEX, 40],
  ['terraform_token', `[${ALNUM}]{14}\\.atlasv1\\.`, URL64, 60],
  ['pulumi_token', 'pul-', HEX, 40],
  ['netlify_token', 'nf[pcou]_', ALNUM, 36],
  ['hubspot_token', 'pat-(?:na|eu)[0-9]-', `${HEX}A-F-`, 36],
  ['airtable_token', `pat[${ALNUM}]{14}\\.`, HEX, 64],
  ['buildkite_token', 'bk[ua]{1,2}_', HEX, 40],
  ['artifactory_key', 'AKCp', ALNUM, 60],
  ['confluent_or_mapbox_secret', 'sk\\.eyJ', URL64, 40],
  ['dynatrace_token', `dt0[a-z][0-9]{2}\\.[${ALNUM}]{20,30}\\.`, ALNUM, 60],
  ['contentful_token', 'CFPAT-', URL64, 40],
  ['okta_token', 'SSWS 00', URL64, 38],
  ['azure_storage_key', '(?:AccountKey|SharedAccessKey)=', `${BASE64}=`, 40],
  ['azure_client_secret', `[${URL64}.~]{3}[0-9]Q~`, `${URL64}.~`, 30],
  ['aws_presigned_url', 'X-Amz-Signature=', HEX, 64],
  ['putty_private_key', 'PuTTY-User-Key-File-[23]: ', 'a-z0-9-', 6],
]

type PatternRow = readonly [name: string, minLength: number, pattern: RegExp]

/** Forms of credentials that a prefix alone does not identify. */
const PATTERNS: readonly PatternRow[] = [
  [
    'aws_access_key',
    20,
    /(?<![A-Za-z0-9])(?:A3T[A-Z0-9]|A(?:KIA|SIA|GPA|IDA|ROA|IPA|NPA|NVA))[A-Z0-9]{16}(?![A-Za-z0-9])/,
  ],
  ['aws_bedrock_key', 36, /(?<![A-Za-z0-9])(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/=]{32}/],
  ['twilio_key', 34, /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])/],
  ['mailgun_key', 50, /(?<![A-Za-z0-9])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![A-Za-z0-9])/],
  [
    'discord_bot_token',
    59,
    /(?<![A-Za-z0-9_-])[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}/,
  ],
  ['vault_token', 26, /^(?:s|b|r)\.[A-Za-z0-9]{24}(?:\.[A-Za-z0-9]{1,16})?$/],
  ['jwt', 32, /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,8192}\.eyJ[A-Za-z0-9_-]{8,16384}\.[A-Za-z0-9_-]{8}/],
  [
    'jwe',
    52,
    /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{16,8192}\.[A-Za-z0-9_-]{0,1024}\.[A-Za-z0-9_-]{12,24}\.[A-Za-z0-9_-]{1,16384}\.[A-Za-z0-9_-]{16}/,
  ],
  ['azure_sas_token', 45, /[?&]sig=[A-Za-z0-9%+/]{40}/],
  ['pem_private_key', 21, /-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY/],
  [
    'pem_private_key',
    24,
    /LS0tLS1CRUdJTiB(?:QUklWQVRFI|SU0EgUFJJVkFURS|FQyBQUklWQVRFI|PUEVOU1NIIFBSSVZBVEUg|FTkNSWVBURUQgUFJJVkFURS|EU0EgUFJJVkFURS|QR1AgUFJJVkFURS)/,
  ],
  ['gcp_service_account', 16, /"private_key(?:_id)?"[ \t\r\n]{0,8}:[ \t\r\n]{0,8}"[^"]/],
  ['gcp_service_account', 25, /^ew[A-Za-z0-9+/]{2,24}InNlcnZpY2VfYWNjb3Vud/],
  [
    'docker_config_auth',
    16,
    /"(?:auth|identitytoken|registrytoken)"[ \t\r\n]{0,8}:[ \t\r\n]{0,8}"[A-Za-z0-9+/=._-]{8}/,
  ],
  ['oracle_connect_string', 20, /jdbc:oracle:[a-z]{3,4}:[^\s/:@]{1,64}\/[^\s/:@]{1,64}@/],
  [
    'userinfo_password',
    8,
    /^(?!(?:mailto|sips?|xmpp|acct|urn|im):)[^\s:@/]{1,128}:[^\s@/]{1,128}@[A-Za-z0-9.-]{1,253}:[0-9]{2,5}\/?$/,
  ],
  [
    'url_with_password',
    7,
    /:\/\/[^\s/:@"'<>]{0,256}:(?![0-9]{1,5}[?#]|\$\{|\{\{|\$\(|\*{1,64}@)[^\s/@"'<>]{1,1024}@[^\s/]/,
  ],
  ['authorization_header', 23, /^(?:authorization *[:=] *)?bearer {1,4}[A-Za-z0-9._~+/=-]{16}/i],
  [
    'authorization_header',
    12,
    /^(?:authorization *[:=] *)?basic {1,4}(?=[A-Za-z+/]{0,64}[0-9=])[A-Za-z0-9+/]{6,512}={0,2}$/i,
  ],
  [
    'password_in_text',
    5,
    /(?:password|passwd|passphrase|pwd)["']? {0,2}= {0,2}["']?(?!\$\{|\{\{|\$\(|\$[A-Z]|<|\*|%|\/)[^\s;&"',]/i,
  ],
  [
    'password_in_text',
    11,
    /"[a-z_-]{0,32}(?:password|passwd|passphrase)"[ \t\r\n]{0,8}:[ \t\r\n]{0,8}"(?!\$\{|\{\{|\$\(|<|\*)[^"]/i,
  ],
  [
    'token_in_text',
    22,
    /(?:api[_-]?key|access[_-]?key|token|secret|secret[_-]?key|_auth)["']? {0,2}= {0,2}["']?[A-Za-z0-9._~+/%-]{16}/i,
  ],
]

export const CREDENTIAL_SHAPES: readonly CredentialShape[] = [
  ...PREFIXED.map(([name, prefix, characters, atLeast]) => ({
    name,
    minLength: atLeast + 3,
    pattern: new RegExp(`(?<![A-Za-z0-9])${prefix}[${characters}]{${atLeast}}`),
  })),
  ...PATTERNS.map(([name, minLength, pattern]) => ({ name, minLength, pattern })),
]
