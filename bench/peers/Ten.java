import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;

import io.gatling.javaapi.core.*;
import io.gatling.javaapi.http.*;
import java.time.Duration;

/** The plan of 10 requests for Gatling: each answer checked, a value taken from it. */
public class Ten extends Simulation {
  private static final String PAGES = "abcdefghij";

  private static ChainBuilder page(char name) {
    return exec(http("page " + name).get("/page/" + name)
        .check(status().is(200))
        .check(regex("abc(.*?)xyz").saveAs("word")));
  }

  {
    ChainBuilder pages = page(PAGES.charAt(0));
    for (int at = 1; at < PAGES.length(); at++) {
      pages = pages.exec(page(PAGES.charAt(at)));
    }
    HttpProtocolBuilder protocol =
        http.baseUrl(System.getProperty("url")).disableCaching().disableWarmUp();
    ScenarioBuilder users =
        scenario("user").during(Duration.ofSeconds(Integer.getInteger("seconds"))).on(pages);
    setUp(users.injectOpen(atOnceUsers(Integer.getInteger("users")))).protocols(protocol);
  }
}
