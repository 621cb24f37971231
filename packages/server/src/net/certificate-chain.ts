// Judges the certificate chain that the listener serves: whether it is usable, and which root it leads to. Nodes pin that root,
// because leaf and intermediate certificates change at every renewal. See docs/design/certificates.md.

import { createPrivateKey, hash, X509Certificate } from 'node:crypto'

/** Certificate chain and private key as PEM texts. */
export interface CertificatePair {
  readonly cert: string
  readonly key: string
  /** Root certificates that the chain may lead to; absent if the chain contains its root. */
  readonly roots?: string | undefined
  /** Root certificates to which the chain will lead later, as a PEM text. */
  readonly next?: string | undefined
}

export type ChainFault =
  | { readonly kind: 'unreadable'; readonly why: string }
  | { readonly kind: 'foreign_key' }
  | { readonly kind: 'expired' | 'not_yet_valid'; readonly subject: string; readonly at: string }
  | { readonly kind: 'no_root'; readonly subject: string; readonly issuer: string }

type ServedChain = Pick<CertificatePair, 'cert' | 'roots'>

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** The certificates of a PEM text. Some tools write keys and comments into the same file; they are ignored. */
export function readCertificates(pem: string): X509Certificate[] {
  const found = pem.match(CERTIFICATE) ?? []
  if (found.length === 0) throw new Error('the file contains no certificate')
  return found.map((one) => new X509Certificate(one))
}

/** Every fault of the pair at a time. The root of a pair without faults is pinned by nodes. */
export function judgeChain(pair: CertificatePair, nowMs: number): ChainFault[] {
  try {
    const path = pathToRoot(pair)
    const [leaf] = path
    const fitting = leaf?.checkPrivateKey(createPrivateKey(pair.key)) === true
    return [
      ...(fitting ? [] : [{ kind: 'foreign_key' } as const]),
      ...path.flatMap((one) => judgeValidity(one, nowMs)),
      ...judgeEnd(path),
    ]
  } catch (error) {
    return [{ kind: 'unreadable', why: error instanceof Error ? error.message : String(error) }]
  }
}

/** The root that a chain leads to, as PEM text; undefined if neither the chain nor `roots` contains it. */
export function rootOf(pair: ServedChain): string | undefined {
  const last = pathToRoot(pair).at(-1)
  return last !== undefined && isRoot(last) ? last.toString() : undefined
}

/** The chain as the listener presents it: with its root, which a joining node compares with its pin. */
export function presentedChain(pair: ServedChain): string {
  const own = readCertificates(pair.cert)
  const path = pathToRoot(pair)
  const added = path.filter((one) => !own.some(({ raw }) => raw.equals(one.raw)))
  return [...own, ...added].map(String).join('')
}

/** The fingerprint by which the join command names the root of a chain; undefined without a root. */
export function rootPinOf(pair: ServedChain): string | undefined {
  const root = rootOf(pair)
  return root && pinOf(new X509Certificate(root))
}

export const pinOf = ({ raw }: X509Certificate): string => `sha256:${hash('sha256', raw, 'hex')}`

/** Leaf first, then each issuer. Ends at a root, or where the issuer is missing. */
function pathToRoot({ cert, roots }: ServedChain): readonly X509Certificate[] {
  const chain = readCertificates(cert)
  const known = [...chain, ...(roots === undefined ? [] : readCertificates(roots))]
  const path = chain.slice(0, 1)
  for (let last = path.at(-1); last !== undefined && !isRoot(last); last = path.at(-1)) {
    const child = last
    const issuer = known.find((one) => !path.includes(one) && issued(child, one))
    if (issuer === undefined) break
    path.push(issuer)
  }
  return path
}

export const isRoot = (certificate: X509Certificate): boolean => issued(certificate, certificate)

/** Names alone prove nothing: a renewed authority may have the name of the old one, so the signature is checked. */
const issued = (certificate: X509Certificate, issuer: X509Certificate): boolean =>
  certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)

function judgeValidity(
  { validFromDate, validToDate, subject }: X509Certificate,
  nowMs: number,
): ChainFault[] {
  if (validToDate.getTime() <= nowMs) return [{ kind: 'expired', subject, at: validToDate.toISOString() }]
  return validFromDate.getTime() > nowMs
    ? [{ kind: 'not_yet_valid', subject, at: validFromDate.toISOString() }]
    : []
}

function judgeEnd(path: readonly X509Certificate[]): ChainFault[] {
  const last = path.at(-1)
  if (last === undefined || isRoot(last)) return []
  return [{ kind: 'no_root', subject: last.subject, issuer: last.issuer }]
}

export interface ExplainedFault {
  readonly found: string
  readonly remedy: string
}

const oneLine = (name: string): string => name.replaceAll('\n', ', ')

export function explainChainFault(fault: ChainFault): ExplainedFault {
  switch (fault.kind) {
    case 'unreadable':
      return {
        found: `no usable certificate and key (${fault.why})`,
        remedy: 'set listen.tls.cert to the chain and listen.tls.key to its private key, both as PEM',
      }
    case 'foreign_key':
      return {
        found: 'a private key that does not belong to the certificate',
        remedy: 'set listen.tls.key to the key of the first certificate in listen.tls.cert',
      }
    case 'expired':
      return { found: `${oneLine(fault.subject)} expired on ${fault.at}`, remedy: 'renew the certificate' }
    case 'not_yet_valid':
      return {
        found: `${oneLine(fault.subject)} is valid from ${fault.at}`,
        remedy: "wait until then, or correct this machine's clock",
      }
    case 'no_root':
      return {
        found: `a chain that ends at ${oneLine(fault.subject)}, without its issuer ${oneLine(fault.issuer)}`,
        remedy:
          'set listen.tls.ca to a file with the root certificate: nodes pin the root, and other certificates change at every renewal',
      }
  }
}
