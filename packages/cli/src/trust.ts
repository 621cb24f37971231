// Whom to believe that a server is who it says: the authorities of a file, and then nobody else. It holds for the whole
// process, requests and sockets alike, which speaks to one platform only.

import { readFile } from 'node:fs/promises'
import { version } from 'node:process'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Undefined where all is well, else why not. */
export async function trustOnly(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => error)
  if (text instanceof Error) return `the CA file ${path} cannot be read: ${text.code}`
  const certificates = text.match(CERTIFICATE) ?? []
  if (certificates.length === 0) return `the CA file ${path} holds no certificate in PEM form`
  // Asked for here: the first versions of Node 24 lack it, and start-up does not need it.
  const { setDefaultCACertificates } = await import('node:tls')
  if (setDefaultCACertificates === undefined) return `a CA file takes Node 24.5 or later, this is ${version}`
  try {
    setDefaultCACertificates(certificates)
  } catch {
    return `the CA file ${path} holds a certificate that cannot be read`
  }
  return undefined
}
