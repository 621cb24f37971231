// Trusts only the certificate authorities of one file. The setting applies to every connection of the process, which is
// safe because a command calls a single platform.

import { readFile } from 'node:fs/promises'
import { version } from 'node:process'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Sets the trusted authorities from a PEM file. Returns an error message, or undefined on success. */
export async function trustOnly(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => error)
  if (text instanceof Error) return `the CA file ${path} cannot be read: ${text.code}`
  const certificates = text.match(CERTIFICATE) ?? []
  if (certificates.length === 0) return `the CA file ${path} contains no certificate in PEM format`
  // setDefaultCACertificates is imported on demand, because early versions of Node 24 lack this function.
  const { setDefaultCACertificates } = await import('node:tls')
  if (setDefaultCACertificates === undefined)
    return `--ca-file requires Node 24.5 or later; this is ${version}`
  try {
    setDefaultCACertificates(certificates)
  } catch {
    return `the CA file ${path} contains an invalid certificate`
  }
  return undefined
}
