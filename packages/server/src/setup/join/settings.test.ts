import { expect, test } from 'vitest'
import { changedSettings, type Setting, withSettings } from './settings.ts'

const TEXT = `# mine
etcd:
  endpoints: ["https://127.0.0.1:2379"]  # local
  tls: { ca: "/etc/ca.pem", cert: "/etc/cert.pem" }
registries:
  - host: docker.io
`
const endpoints: Setting = {
  path: ['etcd', 'endpoints'],
  value: ['https://10.0.0.1:2379', 'https://10.0.0.2:2379'],
}
const certificate: Setting = { path: ['etcd', 'tls', 'cert'], value: '/etc/other.pem' }
const url: Setting = { path: ['cluster', 'url'], value: 'https://10.0.0.1:8443' }

test('changes single settings and keeps comments, order and all others', () => {
  expect(withSettings(TEXT, [endpoints, certificate, url])).toBe(`# mine
etcd:
  endpoints: [ https://10.0.0.1:2379, https://10.0.0.2:2379 ] # local
  tls: { ca: "/etc/ca.pem", cert: "/etc/other.pem" }
registries:
  - host: docker.io
cluster:
  url: https://10.0.0.1:8443
`)
})

test('a text with the settings needs no change', () => {
  const settings = [endpoints, certificate, url]
  expect(changedSettings(TEXT, settings)).toEqual(settings)
  expect(changedSettings(withSettings(TEXT, settings), settings)).toEqual([])
  expect(changedSettings('a: [', settings)).toEqual(settings)
})
