// The faults of the listener's certificate that check-config reports: an unusable pair, an expired certificate, a chain whose
// root is unknown.

import type { CertificatePair } from '../net/certificate-chain.ts'
import { explainChainFault, judgeChain } from '../net/certificate-chain.ts'
import { readNextAuthorities } from '../net/next-authorities.ts'
import type { ProfileFault } from './check-production.ts'

/** `read` reads the configured files; it throws if one of them is unreadable. */
export function checkCertificate(read: () => CertificatePair | undefined, nowMs: number): ProfileFault[] {
  const setting = 'listen.tls'
  try {
    const pair = read()
    const faults = pair === undefined ? [] : judgeChain(pair, nowMs)
    const explained = faults.map((fault) => ({ setting, ...explainChainFault(fault) }))
    return [...explained, ...checkNext(pair?.next, nowMs)]
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error)
    return [{ setting, found, remedy: 'correct the path, or make the file readable for this user' }]
  }
}

function checkNext(next: string | undefined, nowMs: number): ProfileFault[] {
  try {
    readNextAuthorities(next, nowMs)
    return []
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error)
    const remedy =
      'set it to a file with the root certificates to which listen.tls.cert will change, and nothing else'
    return [{ setting: 'listen.tls.nextCa', found, remedy }]
  }
}
