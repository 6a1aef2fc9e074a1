import java.io.FileInputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/* Fetch CA URL...: each with both of the library's clients. */
class Fetch {
	public static void main(String[] args) throws Exception {
		KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
		store.load(null, null);
		store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509")
			.generateCertificate(new FileInputStream(args[0])));
		TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
		trust.init(store);
		SSLContext tls = SSLContext.getInstance("TLS");
		tls.init(null, trust.getTrustManagers(), null);
		HttpClient client = HttpClient.newBuilder().sslContext(tls).build();

		for (int i = 1; i < args.length; i++) {
			try {
				var answer = client.send(
					HttpRequest.newBuilder(URI.create(args[i])).build(),
					HttpResponse.BodyHandlers.ofString());
				System.out.print(answer.body());
			} catch (Exception e) {
				System.out.println("failed " + e.getClass().getSimpleName());
			}
			if (args[i].startsWith("http:")) {
				try {
					var old = (HttpURLConnection) URI.create(args[i])
						.toURL().openConnection();
					System.out.print(new String(
						old.getInputStream().readAllBytes()));
				} catch (Exception e) {
					System.out.println("failed "
						+ e.getClass().getSimpleName());
				}
			}
		}
	}
}
