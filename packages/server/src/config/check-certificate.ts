// The faults of the listener's certificate that check-config reports: an unusable pair, an expired certificate, a chain whose
// root is unknown.

import type { CertificatePair } from '../net/certificate-chain.ts'
import { explainChainFault, judgeChain } from '../net/certificate-chain.ts'
import type { ProfileFault } from './check-production.ts'

/** `read` reads the configured files; it throws if one of them is unreadable. */
export function checkCertificate(read: () => CertificatePair | undefined, nowMs: number): ProfileFault[] {
  const setting = 'listen.tls'
  try {
    const pair = read()
    const faults = pair === undefined ? [] : judgeChain(pair, nowMs)
    return faults.map((fault) => ({ setting, ...explainChainFault(fault) }))
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error)
    return [{ setting, found, remedy: 'correct the path, or make the file readable for this user' }]
  }
}
