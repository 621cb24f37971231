// All steps of a setup on an empty machine, in order. Each step describes a state of the machine, so that a step whose
// state is already reached can be left out.

import { isIP } from 'node:net'
import { defined } from '@holdfast/contract'
import { brokerConfig, etcdEnvironment, secretsStoreConfig, serverConfig } from './file-contents.ts'
import {
  CERTIFICATES,
  type CertificateName,
  type Layout,
  layoutBelow,
  type Service,
  type SetupOptions,
  UNITS,
  USERS,
} from './layout.ts'
import type { CertificateStep, FolderStep, IdentityStep, StartStep, Step, WriteStep } from './step.ts'

const AUTHORITY_DAYS = 3650
const CERTIFICATE_DAYS = 365
const SECRET = 0o600
const PUBLIC = 0o644

export function desiredSteps(options: SetupOptions): readonly Step[] {
  const layout = layoutBelow(options.root)
  return [
    ...folders(layout),
    { kind: 'authority', ...layout.authority, days: AUTHORITY_DAYS },
    ...certificates(options, layout),
    write(layout.etcdEnvironment, etcdEnvironment(options)),
    write(layout.secretsStoreConfig, secretsStoreConfig(options)),
    {
      kind: 'key',
      files: [
        { path: layout.serverKey, mode: SECRET, owner: USERS.server },
        { path: layout.brokerKey, mode: SECRET, owner: USERS.broker },
      ],
    },
    start('etcd', [layout.etcdEnvironment], layout, ['etcd']),
    start('secretsStore', [layout.secretsStoreConfig], layout, ['vault']),
    { kind: 'unseal', keyFrom: 'new store' },
    ...identities(options, layout),
    { kind: 'platform', reissue: false, ...defined({ tenant: options.tenant }) },
    start('broker', [layout.brokerConfig, layout.brokerSecretId, layout.brokerKey], layout, [
      'broker',
      'etcd-client-broker',
    ]),
    start('server', [layout.serverConfig, layout.apiSecretId, layout.serverKey], layout, [
      'server',
      'etcd-client-server',
    ]),
    { kind: 'show' },
  ]
}

function folders(layout: Layout): FolderStep[] {
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
  ]
}

function certificates({ publicUrl }: SetupOptions, layout: Layout): CertificateStep[] {
  const local = ['DNS:localhost', 'IP:127.0.0.1']
  const host = new URL(publicUrl).hostname.replaceAll(/[[\]]/g, '')
  const outside = isIP(host) === 0 ? `DNS:${host}` : `IP:${host}`
  const certificateNames: readonly CertificateName[] = [
    'etcd',
    'etcd-client-server',
    'etcd-client-broker',
    'vault',
    'broker',
    'server',
  ]
  return certificateNames.map((name) => ({
    kind: 'certificate',
    name: `holdfast ${name}`,
    ...layout.certificate(name),
    ...CERTIFICATES[name],
    names: name === 'server' ? [...new Set([outside, ...local])] : local,
    days: CERTIFICATE_DAYS,
  }))
}

const write = (path: string, content: string): WriteStep => ({
  kind: 'write',
  path,
  mode: PUBLIC,
  owner: 'root',
  content,
})

function start(
  service: Service,
  files: readonly string[],
  layout: Layout,
  names: readonly CertificateName[],
): StartStep {
  const used = names.map((name) => layout.certificate(name))
  const pems = [layout.authority.cert, ...used.flatMap(({ cert, key }) => [cert, key])]
  return { kind: 'start', action: 'start', service, unit: UNITS[service], uses: [...files, ...pems] }
}

function identities(options: SetupOptions, layout: Layout): IdentityStep[] {
  return [
    {
      kind: 'identity',
      identity: 'api',
      secretId: { path: layout.apiSecretId, mode: SECRET, owner: USERS.server },
      config: { path: layout.serverConfig, mode: PUBLIC, owner: 'root', content: serverConfig(options) },
    },
    {
      kind: 'identity',
      identity: 'broker',
      secretId: { path: layout.brokerSecretId, mode: SECRET, owner: USERS.broker },
      config: { path: layout.brokerConfig, mode: PUBLIC, owner: 'root', content: brokerConfig(options) },
    },
  ]
}
