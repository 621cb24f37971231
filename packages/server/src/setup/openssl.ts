// Creates the platform's authority and its certificates with openssl, because Node cannot sign certificates.

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { certificateText } from './certificate-text.ts'
import type { AuthorityStep, CertificateStep } from './step.ts'

const run = promisify(execFile)
const OPENSSL_MS = 20_000

export interface IssuedPair {
  readonly cert: string
  readonly key: string
}

/** Issues a certificate as PEM texts. Without `authority` it signs itself. The certificate is followed by its authority's. */
export async function issuePair(
  step: AuthorityStep | CertificateStep,
  authority?: { readonly cert: string; readonly key: string },
): Promise<IssuedPair> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-setup-'))
  const [config, cert, key] = [join(folder, 'request.cnf'), join(folder, 'cert.pem'), join(folder, 'key.pem')]
  try {
    writeFileSync(config, certificateText(step), { mode: 0o600 })
    const signer = authority === undefined ? [] : ['-CA', authority.cert, '-CAkey', authority.key]
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc', '-sha256']
    const files = ['-config', config, '-keyout', key, '-out', cert, '-days', String(step.days)]
    await run('openssl', ['req', '-x509', ...curve, ...files, ...signer], { timeout: OPENSSL_MS })
    const chain = authority === undefined ? '' : readFileSync(authority.cert, 'utf8')
    return { cert: readFileSync(cert, 'utf8') + chain, key: readFileSync(key, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
