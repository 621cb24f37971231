// The settings of a configuration that setup owns: the addresses of the machines, and on a machine that joins the paths of
// its own files. Pure.

import { EVERY_ADDRESS, processOf } from '../file-contents.ts'
import { layoutBelow, type SetupOptions } from '../layout.ts'
import { authority, type Network, secretsStoreUrl } from './network.ts'
import type { Setting } from './settings.ts'

/** The settings that change with the machines of the platform. */
export function addressSettings(
  service: 'server' | 'broker',
  options: SetupOptions,
  { endpoints }: Network,
): readonly Setting[] {
  const { host, port } = processOf(service, options).listen
  return [
    set('cluster.url', `https://${authority(options.address, port)}`),
    set('secretsStore.address', secretsStoreUrl(options)),
    ...(endpoints === undefined ? [] : [set('etcd.endpoints', endpoints)]),
    ...(host === EVERY_ADDRESS ? [] : [set('listen.host', host)]),
  ]
}

/** The settings of a configuration of another machine that name files; the operator may change them afterwards. */
export function fileSettings(service: 'server' | 'broker', options: SetupOptions): readonly Setting[] {
  const { listen, certificate, client, clusterKey, identity } = processOf(service, options)
  const layout = layoutBelow(options.root)
  const [own, toEtcd] = [layout.certificate(certificate), layout.certificate(client)]
  const ca = layout.authority.cert
  return [
    set('listen.port', listen.port),
    set('listen.tls.cert', own.cert),
    set('listen.tls.key', own.key),
    set('cluster.keyFile', clusterKey),
    set('cluster.ca', ca),
    set('etcd.tls.ca', ca),
    set('etcd.tls.cert', toEtcd.cert),
    set('etcd.tls.key', toEtcd.key),
    set('secretsStore.ca', ca),
    set(`secretsStore.${identity.name}.secretIdFile`, identity.secretId),
  ]
}

const set = (path: string, value: Setting['value']): Setting => ({ path: path.split('.'), value })
