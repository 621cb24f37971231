// Parses an image reference by the grammar of OCI distribution. Nothing is decoded or repaired: a text outside the
// grammar is not a reference. As in Docker, the default registry is docker.io, where a name of one component gets the
// prefix `library/`.

import { remember } from './remember.ts'

export interface ImageReference {
  /** The registry host in canonical form: lower case and always with a port (443 by default). */
  readonly host: string
  readonly repository: string
  readonly tag?: string
  readonly digest?: string
}

const MAX_NAME = 255
/** Length of the longest possible image reference; longer texts are rejected without parsing. */
const MAX_REFERENCE = MAX_NAME + 1 + 128 + 1 + 7 + 128
const MAX_HOST = 253 + 6

const DEFAULT_HOSTS: readonly string[] = ['docker.io', 'index.docker.io']
const DEFAULT_HOST = 'docker.io:443'
const DEFAULT_PORT = '443'

// In these patterns no two neighboring parts can match the same character, so matching takes linear time.
const REPOSITORY = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*$/
const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/
const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/
const HOST_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const BRACKETED = /^(\[[0-9a-f:]{2,39}\])(?::(.*))?$/
const PORT = /^[1-9][0-9]{0,4}$/
const NUMERIC_LABEL = /^(?:[0-9]+|0x[0-9a-f]*)$/
const OCTET = /^(?:0|[1-9][0-9]{0,2})$/
/** Matches a text that a container engine would read as the id of a local image. */
const IMAGE_ID = /^[0-9a-f]{64}$/

export const isRepository = (text: string): boolean => text.length <= MAX_NAME && REPOSITORY.test(text)
export const isTag = (text: string): boolean => TAG.test(text)
/** Whether a text is a SHA-256 or SHA-512 digest. Digests of other algorithms are not accepted. */
export const isDigest = (text: string): boolean => DIGEST.test(text)

/**
 * Parses an image reference. Undefined for a text outside the grammar: a scheme, userinfo, white space, an upper-case
 * repository, a bad digest.
 */
export const parseImageReference: (text: string) => ImageReference | undefined = remember(readReference)

function readReference(text: string): ImageReference | undefined {
  if (text.length === 0 || text.length > MAX_REFERENCE) return undefined
  const [named = '', digest, ...rest] = text.split('@')
  if (rest.length > 0 || (digest !== undefined && !isDigest(digest))) return undefined
  const { name, tag } = splitTag(named)
  if (name.length > MAX_NAME || (tag !== undefined && !isTag(tag))) return undefined
  const place = splitHost(name)
  if (place === undefined || !isRepository(place.repository)) return undefined
  return { ...place, ...(tag === undefined ? {} : { tag }), ...(digest === undefined ? {} : { digest }) }
}

/** The canonical `host:port` of a registry; undefined for an invalid text. `registry.example.com` means port 443. */
export function parseRegistryHost(text: string): string | undefined {
  if (text.length === 0 || text.length > MAX_HOST) return undefined
  const lower = text.toLowerCase()
  if (DEFAULT_HOSTS.includes(lower)) return DEFAULT_HOST
  const bracketed = BRACKETED.exec(lower)
  if (bracketed?.[1] !== undefined) return withPort(bracketed[1], bracketed[2])
  const [name = '', port, ...rest] = lower.split(':')
  return rest.length === 0 && isHostName(name) ? withPort(name, port) : undefined
}

function splitTag(named: string): { name: string; tag?: string } {
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1)
  return colon === -1 ? { name: named } : { name: named.slice(0, colon), tag: named.slice(colon + 1) }
}

/** Splits off the registry host: the first component, if it has a dot, a colon or a capital, or is `localhost`. */
function splitHost(name: string): { host: string; repository: string } | undefined {
  const slash = name.indexOf('/')
  const first = slash === -1 ? '' : name.slice(0, slash)
  if (!looksLikeHost(first)) return IMAGE_ID.test(name) ? undefined : onDefaultHost(name)
  const path = name.slice(slash + 1)
  if (DEFAULT_HOSTS.includes(first.toLowerCase())) return onDefaultHost(path)
  const host = parseRegistryHost(first)
  return host === undefined ? undefined : { host, repository: path }
}

function looksLikeHost(first: string): boolean {
  return /[.:A-Z]/.test(first) || first === 'localhost'
}

function onDefaultHost(path: string): { host: string; repository: string } {
  return { host: DEFAULT_HOST, repository: path.includes('/') ? path : `library/${path}` }
}

function withPort(name: string, port: string | undefined): string | undefined {
  if (port === undefined) return `${name}:${DEFAULT_PORT}`
  return PORT.test(port) && Number(port) <= 65_535 ? `${name}:${port}` : undefined
}

/**
 * Whether a text is a host name. A name that ends in a number must be a plain IPv4 address, because a resolver would
 * read `127.1`, `0x7f.1` or `2130706433` as an address.
 */
function isHostName(name: string): boolean {
  const labels = name.split('.')
  if (name.length > 253 || !labels.every((label) => HOST_LABEL.test(label))) return false
  if (!NUMERIC_LABEL.test(labels.at(-1) ?? '')) return true
  return labels.length === 4 && labels.every((label) => OCTET.test(label) && Number(label) <= 255)
}
