// The certificates with which this process connects to etcd and to the secrets store. They may be replaced while it runs.

/** PEM texts: the authorities that sign the engine's certificate, and the client certificate of this process with its key. */
export interface ClientTls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** Returns the same object until the certificates are replaced, so that a connection knows whether it is outdated. */
export type CurrentTls = () => ClientTls
