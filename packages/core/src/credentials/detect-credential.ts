// Detects a credential in a plain-text environment constant, by the variable's name or by the form of the value. The
// value itself is never returned.

import { namesCredential, wordsOf } from './credential-keys.ts'
import { credentialShapeOf } from './credential-shapes.ts'

export interface DetectedCredential {
  readonly reason: 'key' | 'value'
  /** Name of the known credential form, if the value was recognized by its form. */
  readonly shape?: string
}

/** Detects a credential. If name and value both match, the form of the value is reported, as it is more specific. */
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
/** Matches a file path. In GOOGLE_APPLICATION_CREDENTIALS=/etc/gcp/key.json the value is a path, not a credential. */
const FILE =
  /^\/(?:(?:var\/)?run\/secrets\/[A-Za-z0-9._/-]{1,200}|[A-Za-z0-9._/-]{1,200}\.(?:json|pem|key|crt|cer|p12|pfx|jks|txt|ya?ml|toml|ini|conf))$/
/** Matches an authentication method: SMTP_AUTH=login is harmless, while REDIS_AUTH usually contains a password. */
const METHOD =
  /^(?:true|false|yes|no|on|off|0|1|enabled|disabled|required|optional|none|anonymous|basic|digest|plain|login|cram-md5|scram-sha-256|md5|trust|oauth2?|xoauth2|oidc|saml|ldap|kerberos|ntlm|jwt|token|tls|mtls|cert|iam|kubernetes|approle|userpass|local)$/i
/** Matches an amount: in MODEL_TOKENS=4096, TOKENS is a quantity. */
const AMOUNT = /^[0-9]{1,7}$/
