// A certificate authority for tests, with certificates for a server and a client on this machine.

import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeTempFolder } from '../temp-folder.ts'

export interface Certificates {
  /** Path of a file: `ca.crt`, `server.crt`, `server.key`, `client.crt` or `client.key`. */
  path(name: string): string
  pem(name: string): string
  remove(): void
}

const run = promisify(execFile)
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** Creates the certificates. `names` adds server names in openssl's notation: `IP:10.0.0.1`, `DNS:example.com`. */
export async function makeCertificates(names: readonly string[] = []): Promise<Certificates> {
  const folder = makeTempFolder('tls')
  const path = (name: string): string => join(folder.path, name)
  const openssl = (...args: string[]) => run('openssl', args, { cwd: folder.path })
  const authority = ['-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=ca', '-days', '1']
  await openssl('req', '-x509', ...NEW_KEY, ...authority)
  writeFileSync(path('names'), `subjectAltName=${['IP:127.0.0.1', 'DNS:localhost', ...names].join(',')}\n`)
  for (const who of ['server', 'client']) {
    await openssl('req', ...NEW_KEY, '-keyout', `${who}.key`, '-out', `${who}.csr`, '-subj', `/CN=${who}`)
    const signing = [
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      '1',
      '-extfile',
      'names',
    ]
    await openssl('x509', '-req', '-in', `${who}.csr`, '-out', `${who}.crt`, ...signing)
  }
  return { path, pem: (name) => readFileSync(path(name), 'utf8'), remove: () => folder.remove() }
}
