// The accepted syntax of text settings: addresses, paths and names. Every pattern is anchored and runs in linear time.

import { isIP } from 'node:net'
import { parseRegistryHost } from '@holdfast/core'
import { isAddressRange } from '../net/client-address.ts'
import type { Form } from './setting.ts'

const MAX_TEXT = 4096
const ORIGIN = /^https?:\/\/[^\s/?#@\\]+$/
const DNS_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const RESOURCE_NAME = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const KEY_ROOT = /^(?:\/[a-z0-9][a-z0-9-]{0,62}){1,4}$/
const PRINTABLE = /^[\x21-\x7e]+$/
const STORE_NAMESPACE = /^[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*\/?$/
const COUNTRY = /^[A-Z]{2}$/
/** Control characters, which are rejected in paths and credentials: a line break there is a mistake of the operator. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters
const CONTROL = /[\x00-\x1f\x7f]/

/** Secret namespaces that are reserved for the platform. */
const RESERVED_NAMESPACES: readonly string[] = ['registries']

const isDnsName = (text: string): boolean =>
  text.length <= 253 && text.split('.').every((label) => DNS_LABEL.test(label))

function isOrigin(text: string): boolean {
  if (text.length > MAX_TEXT || !ORIGIN.test(text)) return false
  const port = /:(\d*)$/.exec(text)?.[1]
  return URL.canParse(text) && (port === undefined || (port !== '' && Number(port) > 0))
}

export const origin: Form = {
  accepts: 'http://host:port or https://host:port, without user, path, query or a slash at the end',
  test: isOrigin,
}
export const listenHost: Form = {
  accepts: 'an IPv4 or IPv6 address, or a host name in lower case',
  test: (text) => isIP(text) !== 0 || isDnsName(text),
}
export const addressRange: Form = {
  accepts: 'an IP address, or a range such as 10.0.0.0/8 with a prefix length of at least 1',
  test: isAddressRange,
}
export const registryHost: Form = {
  accepts: 'host or host:port (default port 443), without scheme, user or path',
  test: (text) => parseRegistryHost(text) !== undefined,
}
export const keyRoot: Form = {
  accepts: 'one to four segments of a-z, 0-9 and -, each after a slash, for example /hf',
  test: (text) => KEY_ROOT.test(text),
}
export const filePath: Form = {
  accepts: 'an absolute path',
  test: (text) => text.startsWith('/') && text.length <= MAX_TEXT && !CONTROL.test(text),
}
export const word: Form = {
  accepts: 'visible ASCII characters without spaces, at most 4096',
  test: (text) => text.length <= MAX_TEXT && PRINTABLE.test(text),
}
export const secretText: Form = {
  accepts: 'a string of 1 to 4096 characters without control characters',
  test: (text) => text.length > 0 && text.length <= MAX_TEXT && !CONTROL.test(text),
}
export const storeNamespace: Form = {
  accepts: 'letters, digits, _ and - in segments separated by slashes',
  test: (text) => text.length <= MAX_TEXT && STORE_NAMESPACE.test(text),
}
export const secretNamespace: Form = {
  accepts: `a DNS label (a-z, 0-9, -; at most 63 characters) other than ${RESERVED_NAMESPACES.join(', ')}`,
  test: (text) => DNS_LABEL.test(text) && !RESERVED_NAMESPACES.includes(text),
}
export const dnsName: Form = {
  accepts: 'a host name: labels of a-z, 0-9 and - separated by dots',
  test: isDnsName,
}
export const resourceName: Form = {
  accepts: 'a name: a-z, 0-9 and -, first a letter, last no -, at most 63 characters',
  test: (text) => RESOURCE_NAME.test(text),
}
export const country: Form = {
  accepts: 'an ISO 3166-1 country code of two capital letters, for example DE',
  test: (text) => COUNTRY.test(text),
}
