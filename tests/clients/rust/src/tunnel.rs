//! The way from the client to the server under test.
//!
//! The client has one address, `https://api.billwithorb.com/v1`, and no option for another. It obeys
//! `HTTPS_PROXY` though, and trusts the certificates of `SSL_CERT_FILE`. So what it says goes to a proxy
//! on the loopback, which has a certificate of its own for that name, and hands on to the server what it
//! deciphers. Nothing goes beyond this machine.

use std::{env, fs, net};

use native_tls::{Identity, TlsAcceptor};
use openssl::{
    asn1::Asn1Time,
    ec::{EcGroup, EcKey},
    hash::MessageDigest,
    nid::Nid,
    pkey::PKey,
    x509::{extension::SubjectAlternativeName, X509Name, X509},
};
use tokio::{
    io::{self, AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_native_tls::TlsAcceptor as Acceptor;

use crate::fixtures;

/// Where the client goes.
const HOST: &str = "api.billwithorb.com";

/// A proxy to a server.
pub(crate) struct Tunnel {
    listener: net::TcpListener,
    acceptor: Acceptor,
}

impl Tunnel {
    /// Opens one on a free port, and leads the clients of this process through it.
    pub(crate) fn open() -> Self {
        let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let (certificate, key) = certificate();
        let identity = Identity::from_pkcs8(&certificate, &key).unwrap();
        let acceptor = TlsAcceptor::new(identity).unwrap().into();
        let path = env::current_exe().unwrap().with_file_name("certificate.pem");
        fs::write(&path, certificate).unwrap();
        for name in ["NO_PROXY", "no_proxy", "https_proxy"] {
            env::remove_var(name);
        }
        env::set_var("HTTPS_PROXY", format!("http://{}", listener.local_addr().unwrap()));
        env::set_var("SSL_CERT_FILE", path);
        Self { listener, acceptor }
    }

    /// Leads all that comes to the server.
    pub(crate) async fn serve(self) {
        let listener = TcpListener::from_std(self.listener).unwrap();
        loop {
            let (client, _) = listener.accept().await.unwrap();
            tokio::spawn(lead(client, self.acceptor.clone()));
        }
    }
}

/// Leads one connection to the server.
async fn lead(mut client: TcpStream, acceptor: Acceptor) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await.unwrap());
    }
    let expect = format!("CONNECT {HOST}:443 HTTP/1.1\r\n");
    assert!(head.starts_with(expect.as_bytes()), "{}", String::from_utf8_lossy(&head));
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    let mut client = acceptor.accept(client).await.unwrap();
    let mut server = TcpStream::connect(fixtures::server_address()).await.unwrap();
    // Clients end without a farewell.
    let _ = io::copy_bidirectional(&mut client, &mut server).await;
}

/// Makes a certificate of the host, with its key.
fn certificate() -> (Vec<u8>, Vec<u8>) {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    let key = PKey::from_ec_key(EcKey::generate(&group).unwrap()).unwrap();
    let mut name = X509Name::builder().unwrap();
    name.append_entry_by_nid(Nid::COMMONNAME, HOST).unwrap();
    let name = name.build();
    let mut builder = X509::builder().unwrap();
    builder.set_version(2).unwrap();
    builder.set_subject_name(&name).unwrap();
    builder.set_issuer_name(&name).unwrap();
    builder.set_pubkey(&key).unwrap();
    builder.set_not_before(&Asn1Time::days_from_now(0).unwrap()).unwrap();
    builder.set_not_after(&Asn1Time::days_from_now(1).unwrap()).unwrap();
    let context = builder.x509v3_context(None, None);
    let host = SubjectAlternativeName::new().dns(HOST).build(&context).unwrap();
    builder.append_extension(host).unwrap();
    builder.sign(&key, MessageDigest::sha256()).unwrap();
    (builder.build().to_pem().unwrap(), key.private_key_to_pem_pkcs8().unwrap())
}
