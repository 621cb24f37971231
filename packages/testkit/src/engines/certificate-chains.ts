// Certificate chains of any depth for tests: self-signed certificates, and certificates that another one has signed.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder } from '../temp-folder.ts'

export interface CertificateChains {
  /** Path of a file: `NAME.crt` or `NAME.key`. */
  path(file: string): string
  /** The files as one text, in this order. */
  pem(...files: readonly string[]): string
  /** Creates a certificate that signs itself. `words` are further arguments of openssl. */
  selfSign(name: string, ...words: readonly string[]): void
  /** Creates a certificate that `issuer` signs, with extensions in openssl's notation. */
  sign(name: string, issuer: string, extensions: string, ...words: readonly string[]): void
  remove(): void
}

export const AUTHORITY = 'basicConstraints=critical,CA:TRUE'
/** Alternative names of a server on this machine. */
export const LOCAL_NAMES = 'subjectAltName=IP:127.0.0.1,DNS:localhost'

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
const DAYS = ['-days', '1']

export function makeCertificateChains(): CertificateChains {
  const folder = makeTempFolder('chains')
  const path = (file: string): string => join(folder.path, file)
  const openssl = (...words: readonly string[]): void => {
    execFileSync('openssl', words, { cwd: folder.path, stdio: 'ignore' })
  }
  const files = (name: string) => ['-keyout', `${name}.key`, '-subj', `/CN=${name}`]
  return {
    path,
    pem: (...names) => names.map((name) => readFileSync(path(name), 'utf8')).join(''),
    selfSign(name, ...words) {
      openssl('req', '-x509', ...KEY, ...DAYS, ...files(name), '-out', `${name}.crt`, ...words)
    },
    sign(name, issuer, extensions, ...words) {
      writeFileSync(path(`${name}.ext`), extensions)
      openssl('req', ...KEY, ...files(name), '-out', `${name}.csr`)
      const authority = ['-CA', `${issuer}.crt`, '-CAkey', `${issuer}.key`, '-CAcreateserial']
      const request = ['-in', `${name}.csr`, '-out', `${name}.crt`, '-extfile', `${name}.ext`]
      openssl('x509', '-req', ...authority, ...request, ...DAYS, ...words)
    },
    remove: () => folder.remove(),
  }
}
