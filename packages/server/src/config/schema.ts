// The schema of the configuration: the source of types, defaults, checks, environment variables and the reference.

import {
  boolean,
  defined,
  type Infer,
  list,
  map,
  object,
  oneOf,
  optional,
  type Shape,
  string,
} from '@holdfast/contract'
import type { Secret } from '../ports/secret.ts'
import { FINALIZE, type Finalize } from '../store/next-format.ts'
import * as forms from './forms.ts'
import {
  connectionSettings,
  defragmentationShape,
  drainSeconds,
  etcdQuotaBytes,
  limitsShape,
  livenessShape,
  promotionShape,
  quotasShape,
  ratesShape,
  retentionShape,
  scalingTimesShape,
  secretIdDays,
} from './number-settings.ts'
import { type Form, setting } from './setting.ts'
import { SHIPPED_REGIONS } from './shipped-regions.ts'

/** The roles of the server program; one process may run several roles. */
export const SERVER_ROLES = ['api', 'controllers', 'gateway', 'broker'] as const
export type ServerRole = (typeof SERVER_ROLES)[number]

/** The identities of the secrets store that these roles need: one writes and never reads, the other is the broker's. */
export const identitiesOf = (roles: readonly string[]): ('api' | 'broker')[] => [
  ...(roles.includes('api') || roles.includes('controllers') ? (['api'] as const) : []),
  ...(roles.includes('broker') ? (['broker'] as const) : []),
]

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const

const text = (form: Form, about: string, value?: string): Shape<string> =>
  setting(string(), { form, about, ...defined({ default: value }) })
const flag = (value: boolean, about: string) => setting(boolean(), { default: value, about })
const pemFile = (about: string) =>
  optional(setting(string(), { form: forms.filePath, file: true, about: `PEM file of ${about}` }))

/** Setting with a secret value: checked as a string, then kept as a Secret, which no log can show. */
const secretValue = (about: string): Shape<Secret> =>
  setting<Secret>({ kind: 'string' }, { form: forms.secretText, secret: true, about })
const secretFile = (about: string) =>
  optional(setting(string(), { form: forms.filePath, secretFile: true, about: `File that holds ${about}` }))

const identity = (who: string) =>
  object({
    roleId: text(forms.word, `AppRole role id of ${who}`),
    secretId: secretValue(`AppRole secret id of ${who}`),
    secretIdFile: secretFile('the AppRole secret id'),
  })

const etcdShape = object({
  endpoints: setting(list(text(forms.origin, 'One member')), {
    minimum: 1,
    distinct: true,
    about: 'Client addresses of the etcd members, either all `http://` or all `https://`',
  }),
  root: text(
    forms.keyRoot,
    'Prefix of every key; two installations on one etcd need different prefixes',
    '/hf',
  ),
  tls: optional(
    object({
      ca: pemFile("the authority that signed the members' certificates; default: the system's authorities"),
      cert: pemFile('the client certificate of this server; requires the key'),
      key: pemFile("the client certificate's private key"),
    }),
  ),
  username: optional(text(forms.word, 'etcd user; requires a password')),
  password: optional(secretValue('Password of the etcd user')),
  passwordFile: secretFile('the password of the etcd user'),
  quotaBytes: etcdQuotaBytes,
  defragmentation: defragmentationShape,
})

const secretsStoreShape = object({
  address: text(forms.origin, 'Address of OpenBao or Vault'),
  ca: pemFile("the authority that signed its certificate; default: the system's authorities"),
  namespace: optional(text(forms.storeNamespace, 'Namespace inside the secrets store')),
  api: optional(identity('the identity of the roles api and controllers, which writes and never reads')),
  broker: optional(identity("the broker's identity, which reads; different from that of api")),
  secretIdDays,
})

const hostList = (about: string) =>
  setting(list(text(forms.registryHost, 'One host')), { distinct: true, about })

const registryShape = object({
  host: text(forms.registryHost, 'Registry, as image references name it'),
  endpoint: optional(
    text(forms.registryHost, 'Host of its API, if different: that of `docker.io` is `registry-1.docker.io`'),
  ),
  plainHttp: optional(setting(boolean(), { about: 'Use HTTP instead of HTTPS; for development and labs' })),
  allowAddress: optional(
    setting(boolean(), { about: 'The host may be an IP address, and may resolve to a private one' }),
  ),
  tokenRealms: optional(
    hostList("Token servers besides the registry; they receive tenants' credentials for it"),
  ),
  ca: pemFile("the authority that signed its certificate; default: the system's authorities"),
})

const residencyShape = object({
  enforcement: flag(true, 'If false, deployments with residency are not placed; running replicas stay'),
  regions: setting(map(setting(list(text(forms.country, 'One country')), { minimum: 1, distinct: true })), {
    default: SHIPPED_REGIONS,
    form: forms.resourceName,
    about: 'ISO 3166-1 country codes of each region; entries replace or extend the built-in regions',
  }),
})

export const configShape = object({
  listen: object({
    host: text(forms.listenHost, 'Address to listen on', '127.0.0.1'),
    port: setting<number>(
      { kind: 'integer' },
      { default: 8080, minimum: 1, maximum: 65_535, about: 'Port to listen on' },
    ),
    drainSeconds,
    ...connectionSettings,
    trustedProxies: setting(list(text(forms.addressRange, 'One address or range')), {
      default: [],
      distinct: true,
      about:
        'Proxies whose `X-Forwarded-For` is believed: the rightmost address there that is not one of them is the client, for limits of failed attempts and logs. Without it every client of a proxy has the address of the proxy',
    }),
    tls: optional(
      object({
        cert: pemFile(
          "this server's certificate chain; requires the key. Without it the server speaks plain HTTP and needs a proxy in front",
        ),
        key: pemFile("the certificate's private key"),
        ca: pemFile(
          'the root certificates of the chain, which nodes pin; default: the root in the chain. ACME clients write chains without it',
        ),
        nextCa: pemFile(
          'the root certificates to which the chain will change. Nodes learn to trust them as well, and confirm it; the server changes to such a root only after every node has confirmed it',
        ),
      }),
    ),
  }),
  publicUrl: text(
    forms.origin,
    'Address at which clients reach the API; `doc` links in rejections begin with it. Default: derived from `listen`. Required when `listen.host` is `0.0.0.0` or `::`',
  ),
  nodeName: optional(
    text(forms.dnsName, 'Control-plane node that this replica runs on; the replica sends its heartbeat'),
  ),
  stateFolder: optional(
    text(
      forms.filePath,
      'Folder of this process, in which it remembers the store so that it recognises a restored one after a restart; default: the state folder of its systemd unit. Without a folder it recognises a restore only while it runs',
    ),
  ),
  roles: setting(list(oneOf(SERVER_ROLES)), {
    default: [...SERVER_ROLES],
    minimum: 1,
    distinct: true,
    about:
      'Roles of this process; `serve --roles` overrides it. In production the broker is a separate process',
  }),
  cluster: optional(
    object({
      url: optional(
        text(forms.origin, 'Address at which other replicas reach this one; default: `publicUrl`'),
      ),
      key: optional(
        secretValue(
          'Shared key by which replicas authenticate to each other; required with a separate broker',
        ),
      ),
      keyFile: secretFile('the key of the cluster'),
      ca: pemFile("the authority of the other replicas' certificates, if it is a private one"),
    }),
  ),
  etcd: etcdShape,
  secretsStore: secretsStoreShape,
  secrets: object({
    namespaces: setting(list(text(forms.secretNamespace, 'One namespace')), {
      default: ['deployments', 'resources'],
      minimum: 1,
      distinct: true,
      about: 'Allowed first segments of a `vault_path`',
    }),
  }),
  registries: setting(list(registryShape), { default: [], about: 'Registries that images may come from' }),
  residency: residencyShape,
  limits: limitsShape,
  quotas: quotasShape,
  rates: ratesShape,
  reservedNames: setting(list(text(forms.resourceName, 'One name')), {
    default: [],
    distinct: true,
    about: 'Names that no tenant may use, besides `etcd` and `holdfast-etcd`',
  }),
  volumes: object({
    enabled: flag(
      false,
      'Whether volumes and their mounts are accepted. They are new in this version, so they are off by default',
    ),
    promotion: promotionShape,
  }),
  upgrade: object({
    finalize: setting<Finalize>(oneOf(FINALIZE), {
      default: 'auto',
      about:
        'Who allows the servers to write new forms of records: the servers, once all of them read these (`auto`), or an operator with `holdfast-server upgrade finalize` (`manual`). Afterwards older servers cannot start',
    }),
  }),
  ui: object({
    enabled: flag(true, 'Whether the dashboard is served below `/ui/`, and browsers may sign in'),
    folder: optional(
      text(forms.filePath, 'Folder with the built dashboard; default: the one installed beside the server'),
    ),
  }),
  metrics: object({ open: flag(false, 'Whether `/metrics` answers without a token') }),
  log: object({
    level: setting(oneOf(LOG_LEVELS), { default: 'info', about: 'Lowest severity that is logged' }),
  }),
  liveness: livenessShape,
  scaling: scalingTimesShape,
  retention: retentionShape,
})

/** The complete configuration: a field is absent only if its setting is optional. Secrets redact themselves. */
export type Config = Infer<typeof configShape>
