// Words that show that a variable contains a credential, or only a setting about a credential.

const words = (text: string): string[] => text.split(' ')

/** Words that mark a credential, alone or at the end of a compound such as PGPASSWORD. */
export const CREDENTIAL_ENDINGS: readonly string[] = [
  ...words('password passwords passwd passphrase passcode bindpw requirepass secret secrets token tokens'),
  ...words('credential credentials apikey apikeys privatekey secretkey accesskey authkey'),
  ...words('connectionstring connectionstrings connstr'),
]

export const CREDENTIAL_WORDS: ReadonlySet<string> = new Set(words('pwd psw creds cred mnemonic pepper'))

/** Words that mark a credential only at the end of a name: REDIS_AUTH is a credential, AUTH_MODE is not. */
export const LAST_WORDS: ReadonlySet<string> = new Set(
  words('pass pw pat auth authorization dsn salt jwt bearer'),
)

/** Words before `key` that mark a credential, as in API_KEY. Other words, as in CACHE_KEY, mark no credential. */
export const KEY_KINDS: ReadonlySet<string> = new Set([
  ...words('api private access secret encryption encrypt signing sign signature master auth account license'),
  ...words('session cookie hmac shared ssh jwt app service crypto cipher aes rsa tls ssl gpg pgp age unseal'),
  ...words('storage webhook'),
])

/** Last words of names that describe a credential without containing one, such as PASSWORD_LENGTH. */
export const ABOUT_WORDS: ReadonlySet<string> = new Set([
  ...words('file files filename path paths dir directory folder mount volume location url uri endpoint host'),
  ...words(
    'hostname domain port server service address arn name names id ids prefix suffix header field label',
  ),
  ...words(
    'param parameter claim user username owner group limit limits max min length len size count bytes',
  ),
  ...words('bits rounds iterations memory threads attempts ttl expiry expires expiration lifetime duration'),
  ...words(
    'timeout age interval period seconds second secs sec ms minutes minute hours hour days day leeway',
  ),
  ...words('skew window rate budget price cost usage in at after before warning policy strength complexity'),
  ...words('pattern regex format charset type kind mode method strategy scheme algorithm alg algo encoding'),
  ...words('hasher hashers hashing provider issuer audience aud iss scope scopes grant realm version region'),
  ...words(
    'enabled enable disabled required optional allowed check validation verification scanning detection',
  ),
  ...words(
    'rotation refresh reset recovery change login authentication history reuse cache source sources lookup',
  ),
  ...words(
    'manager store storage backend engine driver class handler helper plugin namespace bucket table topic',
  ),
  ...words(
    'queue template message text hint placeholder symbol decimals contract exchange generator resolver',
  ),
  ...words('operator ref'),
])

/** Words that mark a name as that of a flag, a count or a public value. */
export const SWITCH_WORDS: ReadonlySet<string> = new Set([
  ...words('max min num number count total enable enabled disable disabled use uses require requires has is'),
  ...words(
    'allow allows skip show hide empty random no public publishable without ignore trust force support',
  ),
  ...words('supports'),
])
