// Parses the challenge of a registry's 401 (RFC 9110 11.6.1) strictly: one challenge per header line, quoted or token
// values, no repeated parameter. Any other challenge is ignored, and no credential is sent.

export type Challenge =
  | { readonly kind: 'basic' }
  | { readonly kind: 'bearer'; readonly realm: string; readonly service: string | undefined }

const MAX_LENGTH = 4096
const SCHEME = /^(Basic|Bearer) +/i
const PARAMETER = /([A-Za-z_]+)=(?:"([ !#-[\]-~]*)"|([A-Za-z0-9._~+/:-]+))(?:, *|$)/y

/** Chooses a challenge: Bearer rather than Basic, because with Bearer only the token server receives the credential. */
export function chooseChallenge(lines: readonly string[]): Challenge | undefined {
  const found = lines.map(parseChallenge)
  return found.find((challenge) => challenge?.kind === 'bearer') ?? found.find((challenge) => challenge)
}

export function parseChallenge(line: string): Challenge | undefined {
  if (line.length > MAX_LENGTH) return undefined
  const scheme = SCHEME.exec(line)
  if (scheme === null) return /^basic$/i.test(line) ? { kind: 'basic' } : undefined
  const parameters = parseParameters(line.slice(scheme[0].length))
  if (parameters === undefined) return undefined
  if (scheme[1]?.toLowerCase() === 'basic') return { kind: 'basic' }
  const realm = parameters.get('realm')
  return realm === undefined ? undefined : { kind: 'bearer', realm, service: parameters.get('service') }
}

function parseParameters(text: string): ReadonlyMap<string, string> | undefined {
  const found = new Map<string, string>()
  const pattern = new RegExp(PARAMETER)
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text)
    const name = match?.[1]?.toLowerCase()
    if (match === null || name === undefined || found.has(name)) return undefined
    found.set(name, match[2] ?? match[3] ?? '')
  }
  return found
}
