// The request file with which openssl issues a certificate. It replaces openssl's own configuration, which would make every
// self-issued certificate an authority.

import type { AuthorityStep, CertificateStep } from './step.ts'

const USAGES = {
  server: 'serverAuth',
  client: 'clientAuth',
  both: 'serverAuth, clientAuth',
} as const

export function certificateText(step: AuthorityStep | CertificateStep): string {
  const name = step.kind === 'authority' ? 'holdfast platform authority' : step.name
  return [
    '[req]',
    'distinguished_name = subject',
    'x509_extensions = extensions',
    'prompt = no',
    '[subject]',
    `CN = ${name}`,
    '[extensions]',
    'subjectKeyIdentifier = hash',
    ...(step.kind === 'authority' ? AUTHORITY : leaf(step)),
    '',
  ].join('\n')
}

const AUTHORITY = [
  'basicConstraints = critical, CA:TRUE, pathlen:0',
  'keyUsage = critical, keyCertSign, cRLSign',
]

const leaf = ({ proves, names }: CertificateStep): string[] => [
  'authorityKeyIdentifier = keyid:always',
  'basicConstraints = critical, CA:FALSE',
  'keyUsage = critical, digitalSignature',
  `extendedKeyUsage = ${USAGES[proves]}`,
  `subjectAltName = ${names.join(', ')}`,
]
