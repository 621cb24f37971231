// Creates an expired certificate signed by the certificate authority of the tests.

import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import type { Certificates } from '@holdfast/testkit'

const SETTINGS = `[ca]
default_ca = own
[own]
database = index
serial = serials
new_certs_dir = .
default_md = sha256
policy = any
[any]
commonName = supplied
`
const BEGAN = '20200101000000Z'
const ENDED = '20200201000000Z'

/** Creates an expired certificate with the key and names of the server's certificate. */
export async function expiredCertificate(certificates: Certificates): Promise<string> {
  const cwd = dirname(certificates.path('ca.crt'))
  writeFileSync(certificates.path('ca.cnf'), SETTINGS)
  writeFileSync(certificates.path('index'), '')
  writeFileSync(certificates.path('serials'), '1000\n')
  const words = [
    'ca',
    '-batch',
    '-notext',
    '-config',
    'ca.cnf',
    '-cert',
    'ca.crt',
    '-keyfile',
    'ca.key',
    '-in',
    'server.csr',
    '-out',
    'expired.crt',
    '-extfile',
    'names',
    '-startdate',
    BEGAN,
    '-enddate',
    ENDED,
  ]
  await promisify(execFile)('openssl', words, { cwd })
  return readFileSync(certificates.path('expired.crt'), 'utf8')
}
