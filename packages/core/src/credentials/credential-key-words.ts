// Words that mark a variable name as that of a credential, or of a setting about one.

const words = (text: string): string[] => text.split(' ')

/** Alone, or at the end of a run-together word such as PGPASSWORD. */
export const CREDENTIAL_ENDINGS: readonly string[] = [
  ...words('password passwords passwd passphrase passcode bindpw requirepass secret secrets token tokens'),
  ...words('credential credentials apikey apikeys privatekey secretkey accesskey authkey'),
  ...words('connectionstring connectionstrings connstr'),
]

export const CREDENTIAL_WORDS: ReadonlySet<string> = new Set(words('pwd psw creds cred mnemonic pepper'))

/** Too common elsewhere; they match only at the end of a name: REDIS_AUTH, not AUTH_MODE. */
export const LAST_WORDS: ReadonlySet<string> = new Set(
  words('pass pw pat auth authorization dsn salt jwt bearer'),
)

/** Words before `key` that make it a credential. A cache key or a public key is none. */
export const KEY_KINDS: ReadonlySet<string> = new Set([
  ...words('api private access secret encryption encrypt signing sign signature master auth account license'),
  ...words('session cookie hmac shared ssh jwt app service crypto cipher aes rsa tls ssl gpg pgp age unseal'),
  ...words('storage webhook'),
])

/** A name with this ending describes a credential and does not hold one. */
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

/** A name with one of these words is a flag, a count, or public. */
export const SWITCH_WORDS: ReadonlySet<string> = new Set([
  ...words('max min num number count total enable enabled disable disabled use uses require requires has is'),
  ...words(
    'allow allows skip show hide empty random no public publishable without ignore trust force support',
  ),
  ...words('supports'),
])
