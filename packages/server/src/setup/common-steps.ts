// The steps that a first and a joining machine share: folders, certificates, files and units.

import { isIP } from 'node:net'
import {
  CERTIFICATE_NAMES,
  CERTIFICATES,
  type CertificateName,
  type Layout,
  LOOPBACK,
  type Service,
  type SetupOptions,
  UNITS,
  USERS,
} from './layout.ts'
import type { CertificateStep, FolderStep, StartStep, WriteStep } from './step.ts'

const CERTIFICATE_DAYS = 365
export const SECRET = 0o600
export const PUBLIC = 0o644

export function folders(layout: Layout): FolderStep[] {
  const folder = (path: string, owner: string, mode: number): FolderStep => ({
    kind: 'folder',
    path,
    mode,
    owner,
  })
  return [
    folder(layout.config, 'root', 0o755),
    folder(layout.pki, 'root', 0o755),
    // Each service passes it to reach its own folder, whatever the umask of the operator.
    folder(layout.data, 'root', 0o755),
    folder(layout.etcdData, USERS.etcd, 0o700),
    folder(layout.secretsStoreData, USERS.secretsStore, 0o700),
    folder(layout.state, 'root', 0o700),
    folder(layout.serverState, USERS.server, 0o700),
    folder(layout.brokerState, USERS.broker, 0o700),
  ]
}

export function certificates(
  { publicUrl, address }: SetupOptions,
  layout: Layout,
  from: CertificateStep['from'],
): CertificateStep[] {
  const local = [...new Set(['DNS:localhost', `IP:${LOOPBACK}`, `IP:${address}`])]
  const host = new URL(publicUrl).hostname.replaceAll(/[[\]]/g, '')
  const outside = isIP(host) === 0 ? `DNS:${host}` : `IP:${host}`
  return CERTIFICATE_NAMES.map((name) => ({
    kind: 'certificate',
    role: name,
    name: `holdfast ${name}`,
    ...layout.certificate(name),
    ...CERTIFICATES[name],
    names: name === 'server' ? [...new Set([outside, ...local])] : local,
    days: CERTIFICATE_DAYS,
    from,
  }))
}

export const write = (path: string, content: string): WriteStep => ({
  kind: 'write',
  path,
  mode: PUBLIC,
  owner: 'root',
  content,
})

export function start(
  service: Service,
  files: readonly string[],
  layout: Layout,
  names: readonly CertificateName[],
): StartStep {
  const used = names.map((name) => layout.certificate(name))
  const pems = [layout.authority.cert, ...used.flatMap(({ cert, key }) => [cert, key])]
  return { kind: 'start', action: 'start', service, unit: UNITS[service], uses: [...files, ...pems] }
}
