import { expect, test } from 'vitest'
import { certificateText } from './certificate-text.ts'
import type { CertificateStep } from './step.ts'

const leaf: CertificateStep = {
  kind: 'certificate',
  role: 'etcd',
  from: 'authority',
  name: 'holdfast etcd',
  cert: '/etcd.pem',
  key: '/etcd-key.pem',
  owner: 'holdfast-etcd',
  names: ['DNS:localhost', 'IP:127.0.0.1'],
  proves: 'both',
  days: 365,
}

test('a certificate is no authority and proves only its names and uses', () => {
  const text = certificateText(leaf)
  expect(text).toContain('basicConstraints = critical, CA:FALSE\n')
  expect(text).toContain('subjectAltName = DNS:localhost, IP:127.0.0.1\n')
  expect(text).toContain('extendedKeyUsage = serverAuth, clientAuth\n')
  expect(certificateText({ ...leaf, proves: 'client' })).toContain('extendedKeyUsage = clientAuth\n')
})

test('the authority signs certificates and no further authorities', () => {
  const text = certificateText({ kind: 'authority', cert: '/ca.pem', key: '/ca-key.pem', days: 3650 })
  expect(text).toContain('basicConstraints = critical, CA:TRUE, pathlen:0\n')
  expect(text).not.toContain('extendedKeyUsage')
})
