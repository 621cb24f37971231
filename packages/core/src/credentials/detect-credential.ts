// Is this environment constant a credential in plain text? DECISIONS 9, SPEC 2.2: refused when the name says so and a value
// is there, or when the value is of a known shape. The value itself appears in no answer.

import { namesCredential, wordsOf } from './credential-keys.ts'
import { credentialShapeOf } from './credential-shapes.ts'

export interface DetectedCredential {
  readonly reason: 'key' | 'value'
  /** Of a value: which known shape it has. */
  readonly shape?: string
}

/** The value's shape is the more telling reason, so it is given where both hold. */
export function detectCredential(key: string, value: string): DetectedCredential | undefined {
  if (value === '') return undefined
  const shape = credentialShapeOf(value)
  if (shape !== undefined) return { reason: 'value', shape }
  return namesCredential(key) && !isHarmlessUnder(key, value) ? { reason: 'key' } : undefined
}

function isHarmlessUnder(key: string, value: string): boolean {
  if (value.length > MAX_HARMLESS) return false
  if (URL_WITHOUT_USERINFO.test(value) || FILE.test(value)) return true
  const words = wordsOf(key)
  if (words.at(-1) === 'auth') return METHOD.test(value)
  return words.includes('tokens') && AMOUNT.test(value)
}

const MAX_HARMLESS = 8192
const URL_WITHOUT_USERINFO =
  /^(?:jdbc:)?[A-Za-z][A-Za-z0-9+.-]{0,30}:\/\/[^\s/?#@]{0,1024}(?:[/?#]\S{0,8192})?$/
/** GOOGLE_APPLICATION_CREDENTIALS=/etc/gcp/key.json: where the credential is, though the name does not end in FILE. */
const FILE =
  /^\/(?:(?:var\/)?run\/secrets\/[A-Za-z0-9._/-]{1,200}|[A-Za-z0-9._/-]{1,200}\.(?:json|pem|key|crt|cer|p12|pfx|jks|txt|ya?ml|toml|ini|conf))$/
/** REDIS_AUTH is a password, SMTP_AUTH=login a method: the word alone does not tell. */
const METHOD =
  /^(?:true|false|yes|no|on|off|0|1|enabled|disabled|required|optional|none|anonymous|basic|digest|plain|login|cram-md5|scram-sha-256|md5|trust|oauth2?|xoauth2|oidc|saml|ldap|kerberos|ntlm|jwt|token|tls|mtls|cert|iam|kubernetes|approle|userpass|local)$/i
/** MODEL_TOKENS=4096: in the plural it is as often an amount. */
const AMOUNT = /^[0-9]{1,7}$/
